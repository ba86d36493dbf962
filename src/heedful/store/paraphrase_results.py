"""Outcomes of episodes under paraphrase, read from files and joined to a benchmark's metadata.

Joined on the key, never on the words: LIBERO-Para has 3,889 different strings under 4,092
keys, and one string can belong to several cells. What could not be used is counted, not
guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.metrics.paraphrase_outcomes import ARMS, Arm, ParaphraseOutcome
from heedful.spec.errors import UserError, unknown
from heedful.spec.paraphrase import ORIGINAL, Cell, parse_key
from heedful.store.paraphrase_files import PAIR_COLUMNS, Table, outcomes_of, read_table
from heedful.store.paraphrase_logs import has_logs, read_logs
from heedful.store.paraphrase_metadata import (
    KEY_PARTS,
    SIMILARITIES,
    Entry,
    Metadata,
    cell_of_key,
    cells_of,
    keys_of,
    numbers_of,
    read_metadata,
)

SCENE_COLUMNS = ("scene", "initial_state_idx", "episode_idx", "trial")
"""Columns that tell rollouts of one paraphrase and seed apart."""
EXAMPLES = 5
"""Keys that joined to nothing and are named."""


@dataclass(frozen=True)
class ResultRow:
    """One rollout as its file tells it; empty or ``None`` where the file does not say."""

    policy: str
    seed: str
    scene: str
    key: str
    original: str
    text: str
    cell: Cell | None
    success: bool | None
    arm: Arm
    keyword_similarity: float | None = None
    structural_similarity: float | None = None


@dataclass(frozen=True)
class JoinCounts:
    """What became of the rows.

    Attributes:
        rows: Rows read; ``used`` of them ended as outcomes.
        no_outcome: Left out: they do not say whether the episode succeeded.
        unjoined: Left out: their key is not in the metadata; ``examples`` names a few.
        nameless: Left out: nothing says which paraphrase or which original it was.
        repeated: Left out: another row has the same policy, seed, scene and key; of these
            ``contradicting`` have the other outcome. The first row counts.
        seedless: Kept: no seed, where other rows of the policy have one.
        reworded: Kept: their words differ from those of the metadata; the metadata's count.
        unrun: Paraphrases of the metadata without a rollout of any policy.
    """

    rows: int = 0
    used: int = 0
    no_outcome: int = 0
    unjoined: int = 0
    nameless: int = 0
    repeated: int = 0
    contradicting: int = 0
    seedless: int = 0
    reworded: int = 0
    unrun: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Results:
    """Outcomes, and what could not be used.

    Attributes:
        outcomes: Of all policies, the controls among them.
        counts: What became of the rows.
        expected: Cell name -> paraphrases that the metadata has there; ``None`` without metadata.
    """

    outcomes: tuple[ParaphraseOutcome, ...]
    counts: JoinCounts
    expected: dict[str, int] | None = None


def read_results(
    paths: Sequence[Path], metadata: Path | None = None, policies: Sequence[str] = ()
) -> Results:
    """Return the outcomes in CSV files and in folders of LIBERO-Para's logs.

    Args:
        paths: CSV files with the column success (1 or 0), a column key or bddl_file (or high,
            mid, low, eval, batch_idx, or original and paraphrase), and, where there are any,
            policy (else the file's name), seed, one of ``SCENE_COLUMNS``, object_type and
            action_type, arm, keyword_similarity and structural_similarity. A row whose words
            are the original's is the original control; one without words, the empty one.
        metadata: CSV file with the benchmark's paraphrases.
        policies: Only these; empty: all.

    Raises:
        UserError: A file cannot be read or lacks a column, an unknown policy, or nothing is left.
    """
    known = read_metadata(metadata) if metadata is not None else None
    rows: list[ResultRow] = []
    for path in paths:
        rows += _logged(path) if path.is_dir() else _rows(path, known)
    names = list(dict.fromkeys(row.policy for row in rows))
    for name in policies:
        if name not in names:
            raise unknown("policy in the results", name, names)
    if policies:
        rows = [row for row in rows if row.policy in policies]
    found = join(rows, known)
    if not any(outcome.arm == "paraphrase" for outcome in found.outcomes):
        raise UserError(_nothing(paths, found.counts))
    return found


def join(rows: Iterable[ResultRow], metadata: Metadata | None = None) -> Results:
    """Return the outcomes of ``rows``, with what the metadata knows of them by key."""
    rows = list(rows)
    seeded = {row.policy for row in rows if row.seed}
    taken: dict[tuple[str, ...], bool] = {}
    outcomes: list[ParaphraseOutcome] = []
    left = dict.fromkeys(("no_outcome", "unjoined", "nameless", "repeated", "contradicting", "reworded"), 0)
    strangers: dict[str, None] = {}
    for row in rows:
        if row.success is None:
            left["no_outcome"] += 1
            continue
        entry = metadata.entries.get(row.key) if metadata is not None else None
        if row.arm == "paraphrase" and metadata is not None and entry is None:
            left["unjoined"] += 1
            strangers[row.key] = None
            continue
        outcome = _outcome(row, entry, row.success)
        if outcome is None:
            left["nameless"] += 1
            continue
        if row.seed or row.scene:  # without either, a second row can be a second rollout
            same = (row.policy, row.seed, row.scene, row.arm, outcome.key or outcome.original)
            if same in taken:
                left["repeated"] += 1
                left["contradicting"] += taken[same] != row.success
                continue
            taken[same] = row.success
        left["reworded"] += bool(entry and row.text and row.text.strip() != entry.text.strip())
        outcomes.append(outcome)
    run = {outcome.key for outcome in outcomes}
    counts = JoinCounts(
        rows=len(rows),
        used=len(outcomes),
        seedless=sum(row.policy in seeded and not row.seed for row in rows),
        unrun=sum(key not in run for key in metadata.entries) if metadata is not None else 0,
        examples=tuple(strangers)[:EXAMPLES],
        **left,
    )
    return Results(tuple(outcomes), counts, metadata.counts if metadata is not None else None)


def _outcome(row: ResultRow, entry: Entry | None, success: bool) -> ParaphraseOutcome | None:
    """Return the outcome of a row; ``None`` when nothing says what was asked."""
    original, text, cell = row.original, row.text, row.cell
    s_k, s_t = row.keyword_similarity, row.structural_similarity
    if entry is not None:
        original, text, cell = entry.original, entry.text, entry.cell or cell
        s_k = entry.keyword_similarity if entry.keyword_similarity is not None else s_k
        s_t = entry.structural_similarity if entry.structural_similarity is not None else s_t
    key = row.key
    if row.arm != "paraphrase":
        if not original:
            return None
        return ParaphraseOutcome(
            row.policy, original, text, "", ORIGINAL, success, row.seed, row.scene, row.arm
        )
    if not original and key:
        original = _task(key)
    if not key and original and text:
        key = f"{original} → {text}" + (f" ({cell.name})" if cell else "")
    if not key or not original:
        return None
    return ParaphraseOutcome(
        row.policy, original, text, key, cell, success, row.seed, row.scene, "paraphrase", s_k, s_t
    )


def _task(key: str) -> str:
    try:
        return f"task {parse_key(key).task}"
    except UserError:
        return ""


def _rows(path: Path, metadata: Metadata | None) -> list[ResultRow]:
    table = read_table(path)
    success, keys = outcomes_of(table), keys_of(table)
    pair = next((names for names in PAIR_COLUMNS if all(n in table.columns for n in names)), None)
    if keys is None and (pair is None or metadata is not None):
        why = "the metadata is joined on it, never on the words" if metadata else "or original and paraphrase"
        raise UserError(
            f"{path} has no column 'key' or 'bddl_file', nor {', '.join(KEY_PARTS)}, to say which paraphrase "
            f"each row is ({why}); its columns are {', '.join(table.columns)}."
        )
    count = len(table.rows)
    originals, texts = (_column(table, pair[i]) if pair else [""] * count for i in (0, 1))
    cells = cells_of(table, keys)
    names, seeds, arms = (_column(table, name) for name in ("policy", "seed", "arm"))
    scenes = [_column(table, name) for name in SCENE_COLUMNS if name in table.columns]
    s_k, s_t = (numbers_of(table, name) for name in SIMILARITIES)
    found = []
    for i, line in enumerate(table.lines):
        key = keys[i] if keys is not None else ""
        cell = cells[i]
        found.append(
            ResultRow(
                policy=names[i] or path.stem,
                seed=seeds[i],
                scene=" ".join(column[i] for column in scenes if column[i]),
                key=key,
                original=originals[i],
                text=texts[i],
                cell=cell,
                success=success[i],
                arm=_arm(f"{path}, line {line}", arms[i], key, originals[i], texts[i], cell),
                keyword_similarity=s_k[i],
                structural_similarity=s_t[i],
            )
        )
    return found


def _arm(where: str, said: str, key: str, original: str, text: str, cell: Cell | None) -> Arm:
    """Return what a row is: as it says, or as its words do."""
    if said:
        if said not in ARMS:
            raise UserError(f"{where}: {unknown('arm', said, ARMS)}")
        return said
    if cell == ORIGINAL or (not key and cell is None and text and text == original):
        return "original"
    return "empty_instruction" if original and not text and not key else "paraphrase"


def _logged(folder: Path) -> list[ResultRow]:
    if not has_logs(folder):
        raise UserError(
            f"{folder} is neither a run folder (no spec.yaml) nor a folder of LIBERO-Para's logs "
            "(<policy>/seed<k>/eval<task>.json)."
        )
    return [
        ResultRow(
            policy=episode.policy,
            seed=episode.seed,
            scene=episode.scene,
            key=episode.key,
            original=episode.original,
            text=episode.text,
            cell=cell_of_key(episode.key),
            success=episode.success,
            arm="paraphrase",
        )
        for episode in read_logs(folder)
    ]


def _column(table: Table, name: str) -> list[str]:
    """Return a column's cells, trimmed; empty ones where there is no such column."""
    if name not in table.columns:
        return [""] * len(table.rows)
    return [cell.strip() for cell in table.column(name)]


def _nothing(paths: Sequence[Path], counts: JoinCounts) -> str:
    where = ", ".join(map(str, paths))
    if not counts.rows:
        return f"{where}: there are no rows."
    if counts.unjoined:
        return (
            f"{where}: none of {counts.rows} rows has a key of the metadata "
            f"(for example {counts.examples[0]!r}); is it the metadata of another benchmark?"
        )
    return (
        f"{where}: none of {counts.rows} rows is a rollout under paraphrase "
        f"({counts.no_outcome} without outcome, {counts.nameless} that name no paraphrase, "
        f"{counts.used} controls)."
    )
