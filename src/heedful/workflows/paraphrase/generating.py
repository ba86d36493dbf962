"""Paraphrases written by one language model and checked by another, resumable at every call."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heedful.language.chat import Chat
from heedful.language.chat_models import ModelChoice, connect
from heedful.spec.codec import to_json
from heedful.spec.errors import UserError
from heedful.spec.paraphrase import COLUMNS, Cell
from heedful.spec.progress import Progress, silent
from heedful.spec.vocabulary import Vocabulary
from heedful.store.answers import Answers, answers_kept
from heedful.store.disk import check_file, write_atomically
from heedful.store.json_file import read_json
from heedful.store.paraphrase_files import check_table, write_paraphrases
from heedful.suites.paraphrase.generation.rules import Rules, load_rules
from heedful.suites.paraphrase.generation.screen import flaw, wording
from heedful.suites.paraphrase.generation.stages import Filled, Job, Role, fill, ingredients, paired
from heedful.suites.paraphrase.request import foreign_words
from heedful.workflows.paraphrase.asking import Asker, Stop, described
from heedful.workflows.paraphrase.costs import CallPlan, call_plan
from heedful.workflows.paraphrase.generated import Generated, missing_of, selected
from heedful.workflows.paraphrase.models import Models

WORKERS = 4
"""Questions under way at once: small, as services limit how much they are asked a minute."""
Connect = Callable[[ModelChoice, Stop], Chat]


def planned_generation(originals: Sequence[str], out: Path, cells: Sequence[Cell], per_cell: int) -> CallPlan:
    """Return what ``generate_paraphrases`` would ask, without asking anything."""
    return call_plan(_different(originals), cells, per_cell, load_rules(), answers_kept(_answers_folder(out)))


def generate_paraphrases(
    originals: Sequence[str],
    out: Path,
    models: Models,
    cells: Sequence[Cell],
    per_cell: int = 4,
    vocabulary: Vocabulary | None = None,
    max_calls: int | None = None,
    workers: int = WORKERS,
    progress: Progress = silent,
    connecting: Connect | None = None,
    force: bool = False,
) -> Generated:
    """Fill ``cells`` for every original with verified paraphrases, and write them to ``out``.

    Every answer is kept in the folder ``OUT.calls`` as it comes: a kill loses the calls under
    way, and the same command goes on. The file is written at the end, in one piece; it depends
    on the answers alone, not on ``workers`` or on where earlier commands stopped.

    Args:
        originals: The instructions; one that says an earlier one again is left out.
        out: The CSV to write; an earlier one is replaced.
        models: Who writes and who checks.
        cells: The cells to fill, in the order of the file.
        per_cell: Paraphrases a cell and instruction.
        vocabulary: No paraphrase of one of its requests says a word of another.
        max_calls: Calls ever made for this file: answers kept by earlier commands, and new ones.
        workers: Questions under way at once.
        progress: Told whenever a cell of an instruction is done.
        connecting: How a model becomes a client.
        force: Replace other files at ``out`` and beside it, too.

    Raises:
        UserError: A key is missing, a model cannot be asked, ``max_calls`` are used up, nothing
            was kept, another file is at ``out``, or the disk refuses. Answers so far are kept.
    """
    wanted = _different(originals)
    sidecar = _sidecar(out, force)
    stop = Stop()
    connecting = connecting or (lambda choice, stop: connect(choice, pause=stop.pause))
    chats: dict[Role, Chat] = {
        "generator": connecting(models.generator, stop),
        "verifier": connecting(models.verifier, stop),
    }
    names: dict[Role, str] = {"generator": models.generator.name, "verifier": models.verifier.name}
    rules = load_rules()
    answers = Answers(_answers_folder(out))
    try:
        ask = Asker(answers, names, chats, stop, max_calls)
        run = _Runner(rules, ask, stop, workers, progress)
        taken = frozenset(map(wording, wanted))
        foreign = {original: foreign_words(original, vocabulary) for original in wanted}
        single = run(
            "paraphrase one axis",
            [
                Job(original, cell, per_cell, (), taken, foreign[original])
                for original in wanted
                for cell in ingredients(cells)
            ],
        )
        composed = run("paraphrase both axes", _compositions(single, cells))
    finally:
        answers.close()
    filled = [*single, *composed]
    rows, results = selected(filled, wanted, cells, per_cell, models.generator.name)
    rejections: Counter[str] = Counter(dict.fromkeys(rules.checks, 0))
    for one in filled:
        rejections.update(one.rejections)
    usage = ask.usage
    result = Generated(
        file=out,
        sidecar=sidecar,
        answers=answers.folder,
        generator=models.generator.name,
        verifier=models.verifier.name,
        independent=models.independent,
        rules=rules.digest,
        originals=len(wanted),
        repeated=len(originals) - len(wanted),
        paraphrases=len(rows),
        wanted=len(wanted) * len(cells) * per_cell,
        cells=results,
        rejections=dict(rejections),
        missing=missing_of(rows, wanted, cells, per_cell),
        usage={role: usage[role] for role in usage},
        money={
            "generator": usage["generator"].money(models.generator_price),
            "verifier": usage["verifier"].money(models.verifier_price),
        },
    )
    write_atomically(sidecar, _sidecar_bytes(result, models, per_cell))
    if not rows:
        counts = result.counts
        raise UserError(
            f"No paraphrase was kept: of {counts.asked} answers {counts.refused} were refused, "
            f"{counts.truncated} cut off and {counts.malformed} malformed; of {counts.candidates} candidates "
            f"{counts.rejected} were rejected and {counts.unverified} not verified. {sidecar} tells more."
        )
    write_paraphrases(rows, out)
    return result


@dataclass(frozen=True)
class _Runner:
    """Runs jobs in threads and returns their results in the jobs' order."""

    rules: Rules
    ask: Asker
    stop: Stop
    workers: int
    progress: Progress

    def __call__(self, stage: str, jobs: Sequence[Job]) -> list[Filled]:
        self.progress(stage, 0, len(jobs), described(self.ask.usage))
        with ThreadPoolExecutor(max(1, self.workers), thread_name_prefix="ask") as pool:
            try:
                futures = [pool.submit(fill, job, self.rules, self.ask) for job in jobs]
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    self.progress(stage, done, len(jobs), described(self.ask.usage))
            except BaseException:
                # Calls under way are waited for: they are paid for, and their answers are kept.
                self.stop.now()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return [future.result() for future in futures]


def _compositions(single: Sequence[Filled], cells: Sequence[Cell]) -> list[Job]:
    """Return the jobs that merge what was verified on one axis with what was on the other."""
    by_original: dict[str, dict[Cell, Filled]] = {}
    for one in single:
        by_original.setdefault(one.job.original, {})[one.job.cell] = one
    jobs = []
    for found in by_original.values():
        known = frozenset(wording(text) for one in found.values() for text in one.texts)
        for cell in cells:
            if cell.category == "comp":
                action = found[Cell("none", cell.action)]
                pairs = paired(action.texts, found[Cell(cell.object, "none")].texts)
                jobs.append(replace(action.job, cell=cell, pairs=pairs, taken=action.job.taken | known))
    return jobs


def _different(originals: Sequence[str]) -> list[str]:
    """Return the instructions without those that say an earlier one again.

    Raises:
        UserError: One of them is no single line of words, or there is none.
    """
    found: dict[str, str] = {}
    for original in originals:
        trouble = flaw(original)
        if trouble:
            raise UserError(f"The instruction {original[:60]!r} cannot be used: {trouble}.")
        found.setdefault(wording(original), original)
    if not found:
        raise UserError("There are no instructions to paraphrase.")
    return list(found.values())


def _answers_folder(out: Path) -> Path:
    return out.with_name(f"{out.name}.calls")


def _sidecar(out: Path, force: bool) -> Path:
    """Return the JSON file beside ``out``, after a look at what would only fail at the end."""
    if out.suffix == ".json":
        raise UserError(f"{out} ends in .json, where the account of the run goes; name a .csv file.")
    check_table(out, COLUMNS, "file of paraphrases", force)
    sidecar = out.with_suffix(".json")
    check_file(sidecar)
    if sidecar.exists() and not force and not _is_account(sidecar):
        raise UserError(
            f"{sidecar}, where the account of the run goes, is there and is none; name another file, "
            "or say --force."
        )
    return sidecar


def _is_account(sidecar: Path) -> bool:
    try:
        return {"generator", "verifier", "counts"} <= set(read_json(sidecar))
    except UserError:
        return False


def _sidecar_bytes(result: Generated, models: Models, per_cell: int) -> bytes:
    places: Mapping[str, ModelChoice] = {"generator": models.generator, "verifier": models.verifier}
    data: dict[str, Any] = {
        **to_json(result),
        "counts": to_json(result.counts),
        "per_cell": per_cell,
        "models": {role: {"model": side.model, "base_url": side.base_url} for role, side in places.items()},
    }
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()
