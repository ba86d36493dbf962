"""From nothing to a report: demonstrations, policies, conflict scenes, verdicts, one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError, unknown
from heedful.spec.plugins import load as load_plugin
from heedful.spec.progress import Progress, silent
from heedful.spec.run import RunSpec
from heedful.spec.seams import Suite
from heedful.store.run_folder import RunFolder
from heedful.workflows.collecting import check_image_size, collect
from heedful.workflows.folder_names import as_first_named
from heedful.workflows.judging import judge
from heedful.workflows.reporting import KNOWN_ANSWER, report
from heedful.workflows.running import HowToRun, entries, resolve, run
from heedful.workflows.training import RECIPES, TrainingJob, check_job, train_all

if TYPE_CHECKING:
    from heedful.workflows.tracking import Tracking

PLANTED_ORDERS = (
    "color>object>spatial>verb>size",
    "verb>size>spatial>object>color",
)
"""Orders of the known-answer check: the published one, and one that turns most pairs around."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything.

    Attributes:
        demos: Demonstrations a pair.
        rollouts: Conflict rollouts a policy.
        in_distribution: Control rollouts a policy on trained combinations.
        empty: Control rollouts a policy with an empty instruction.
        planted: Conflict rollouts a pair and planted policy in the known-answer check; 0: no check.
        image_size_px: Side of the demonstrations' images.
        steps: Optimizer steps a policy; ``None``: the recipe's own.
    """

    demos: int = 300
    rollouts: int = 400
    in_distribution: int = 120
    empty: int = 60
    planted: int = 40
    image_size_px: int = 256
    steps: int | None = None


@dataclass(frozen=True)
class Diagnosis:
    """What a diagnosis leaves behind.

    Attributes:
        page: The report.
        metrics: Content of ``metrics.json``.
        known_answer: The same of the known-answer check, empty when there was none.
    """

    page: Path
    metrics: dict[str, Any]
    known_answer: dict[str, Any] = field(default_factory=dict)


def diagnose(
    suite: str,
    recipe: str,
    pairs: Sequence[str],
    out: Path,
    sizes: Sizes = Sizes(),
    training_seeds: Sequence[int] = (0,),
    encoders: Sequence[str] = ("minilm",),
    base_seed: int = 0,
    workers: int = 2,
    commands: Sequence[str] = (),
    progress: Progress = silent,
    tracking: Tracking | None = None,
    **how: Unpack[HowToRun],
) -> Diagnosis:
    """Teach a policy every pair of factors, see which one it follows, and write the report.

    Everything lies under ``out``: ``data/<pair>``, ``policies/<pair>-<encoder>-<seed>``, the
    run itself, and the known-answer check in ``known_answer``. Calls with other pairs, seeds
    or encoders on the same folder add to it.

    Args:
        suite: Name of the suite.
        recipe: Kind of policy to train; ``reference``.
        pairs: Pairs of factors, or ``("all",)``.
        out: Run folder.
        sizes: How much of everything.
        training_seeds: One policy is trained for each pair, encoder and seed.
        encoders: Text encoders of the reference policy.
        base_seed: Root of the seeds of demonstrations and scenes.
        workers: Worker processes, one thread each.
        commands: What was typed, for the report.
        progress: Told how far each stage is.
        tracking: What mirrors the run elsewhere, without the known-answer check; see ``workflows.tracking``.
        how: How the policies' episodes are run, see ``running.run``.

    Raises:
        UserError: Something named is unknown or cannot be, or ``out`` holds another run.
    """
    check_values(recipe, out, sizes, training_seeds, encoders, base_seed)
    training_seeds, encoders = list(dict.fromkeys(training_seeds)), list(dict.fromkeys(encoders))
    chosen: Suite = load_plugin("heedful.suites", suite)()
    asked: str | list[str] = "all" if list(pairs) == ["all"] else list(pairs)
    options = {
        "pairs": asked,
        "rollouts": sizes.rollouts,
        "in_distribution": sizes.in_distribution,
        "empty": sizes.empty,
        "demos": sizes.demos,
    }
    names: list[str] = chosen.options(options)["pairs"]
    out = as_first_named(out, out)
    policies, jobs = [], []
    for pair in names:
        for encoder in encoders:
            for seed in training_seeds:
                folder = out / "policies" / f"{_slug(pair)}-{encoder}-{seed}"
                jobs.append(TrainingJob(out / "data" / _slug(pair), folder, encoder, seed, sizes.steps))
                name = f"{recipe} ({encoder})"
                policies.append(PolicyEntry(f"{recipe}:{folder}", name, seed, {"pair": pair}))
    for job in jobs:
        check_job(job)
    spec = RunSpec(suite, options, tuple(policies), base_seed=base_seed)
    RunFolder.open(out, resolve(spec)[0]).close()  # refuses another run before anything is computed
    if tracking:
        tracking.claim(out)
    known_answer = check_known_answer(suite, out / KNOWN_ANSWER, sizes.planted, base_seed, workers, progress)
    for pair in names:
        collect(
            suite,
            {"pairs": [pair], "demos": sizes.demos},
            out / "data" / _slug(pair),
            base_seed,
            sizes.image_size_px,
            workers,
            progress,
        )
    train_all(jobs, workers, progress)
    run(spec, out, workers, progress, tracking=tracking, **how)
    metrics = judge(out, progress=progress)
    page = report(out, commands=commands, progress=progress, tracking=tracking)
    return Diagnosis(page, metrics, known_answer)


def check_values(
    recipe: str,
    out: Path,
    sizes: Sizes,
    training_seeds: Sequence[int],
    encoders: Sequence[str],
    base_seed: int = 0,
) -> None:
    """Refuse what no diagnosis can be made of, before anything is computed; nothing is written.

    Pairs of factors are checked by the suite itself.

    Raises:
        UserError: Names the first value that cannot be.
    """
    if recipe not in RECIPES:
        raise unknown("policy recipe", recipe, RECIPES)
    if not training_seeds or not encoders:
        raise UserError("A diagnosis needs at least one training seed and one text encoder.")
    if sizes.demos < 1:
        raise UserError(f"The number of demos is {sizes.demos}; it must be at least 1.")
    for name in ("rollouts", "in_distribution", "empty", "planted"):
        if getattr(sizes, name) < 0:
            raise UserError(
                f"The number of {name} episodes is {getattr(sizes, name)}; it must be at least 0."
            )
    if base_seed < 0:
        raise UserError(f"The base seed is {base_seed}; it must be at least 0.")
    check_image_size(sizes.image_size_px)
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; a run needs a folder of its own.")
    for encoder in encoders:
        for seed in training_seeds:
            check_job(
                TrainingJob(out / "data", out / "policies" / f"{encoder}-{seed}", encoder, seed, sizes.steps)
            )


def check_known_answer(
    suite: str, out: Path, rollouts: int, base_seed: int = 0, workers: int = 2, progress: Progress = silent
) -> dict[str, Any]:
    """Run planted policies, whose factor order is known, on all pairs and return the measures.

    Args:
        suite: Name of the suite.
        out: Run folder of the check.
        rollouts: Conflict rollouts a pair and policy; 0 skips the check.
        base_seed: Root of the scenes' seeds.
        workers: Worker processes.
        progress: Told how far the check is.
    """
    if not rollouts:
        return {}

    def told(stage: str, done: int, total: int, note: str = "") -> None:
        progress(f"known answer: {stage}", done, total, note)

    refs = [f"planted:{order}" for order in PLANTED_ORDERS]
    options = {"pairs": "all", "rollouts": rollouts, "in_distribution": 6, "empty": 2}
    run(RunSpec(suite, options, entries(refs), base_seed=base_seed), out, workers, told)
    return judge(out, progress=told)


def _slug(pair: str) -> str:
    return pair.replace(",", "-")
