"""Verdicts on recorded rollouts, and the measures that follow from them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from heedful.spec.codec import digest
from heedful.spec.errors import UserError
from heedful.spec.manipulation import RULES
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.spec.rollout import Verdict
from heedful.spec.seams import Judge, Suite
from heedful.store.run_folder import RunFolder

_SAID_EVERY = 50


def judge(path: Path, name: str | None = None, progress: Progress = silent) -> dict[str, Any]:
    """Judge every rollout of the run at ``path`` and return its measures (also in ``metrics.json``).

    Crashed episodes get no verdict. Judging reads recorded states only and is done anew
    every time: it is cheap, and a changed rule then changes every number at once.

    Args:
        path: Run folder.
        name: Name of the judge; ``None``: the one named like the suite.
        progress: Told every few rollouts.

    Raises:
        UserError: No run or no episodes there, a damaged file, or an unknown judge.
    """
    folder = RunFolder.open(path)
    judging: Judge = load_plugin("heedful.judges", name or folder.spec.suite)()
    rows = folder.rows()
    if not rows:  # measures of an earlier judgement, if there are any, stay as they are
        raise UserError(f"There are no episodes in {path}: nothing to judge. `heedful run` makes them.")
    verdicts: dict[str, Verdict] = {}
    for i, rollout in enumerate(folder.iter_rollouts()):
        if rollout.row.status == "finished":
            verdicts[rollout.row.id] = judging.judge(rollout)
        if i % _SAID_EVERY == _SAID_EVERY - 1 or i + 1 == len(rows):
            progress("judge", i + 1, len(rows))
    rules = digest(asdict(RULES))
    folder.write_verdicts(judging.name, rules, verdicts)
    suite: Suite = load_plugin("heedful.suites", folder.spec.suite)()
    metrics = {**suite.summarise(rows, verdicts, folder.spec.options), "judge": f"{judging.name}-{rules}"}
    folder.write_metrics(metrics)
    return metrics
