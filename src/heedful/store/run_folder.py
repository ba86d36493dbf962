"""The run folder: what was asked, what happened, what judges said of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heedful.spec.codec import from_json, to_json
from heedful.spec.errors import UserError
from heedful.spec.rollout import EpisodeRow, Rollout, Verdict
from heedful.spec.run import RunSpec
from heedful.store import lines, run_files
from heedful.store.disk import (
    disk_errors,
    folder_written_atomically,
    remove_leftovers,
    write_atomically,
    write_synced,
)
from heedful.store.growth import grown, other_policies
from heedful.store.process_lock import ProcessLock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heedful.spec.state import Trajectory

_ROW_REMEDY = "delete that line; the same command then runs its episode again"


class RunFolder:
    """A run on disk; see ``open``.

    Layout:

    ``spec.yaml``, ``lock.json``, ``episodes.jsonl``, ``rollouts/<id>/trajectory.parquet``,
    ``rollouts/<id>/<camera>.mp4``, ``rollouts/<id>/error.txt``,
    ``verdicts/<judge>-<digest>.jsonl``, ``metrics.json``, ``report/index.html``.
    """

    def __init__(self, path: Path, spec: RunSpec, lock: ProcessLock | None) -> None:
        """Use ``RunFolder.open``."""
        self.path = path
        self.spec = spec
        self._lock = lock

    @classmethod
    def open(cls, path: str | Path, spec: RunSpec | None = None, create: bool = True) -> RunFolder:
        """Open the run at ``path``.

        Without ``spec`` an existing run is opened to read it, to judge it, or to write
        rollouts as a worker. With ``spec`` it is opened to run episodes: this process is
        then the only driver of the folder until ``close``, what a kill left behind is
        tidied, and the folder's spec grows by the rule of ``store.growth.grown``.

        Args:
            path: The folder.
            spec: What is asked for now.
            create: Make the folder when it is not there (only with ``spec``).

        Raises:
            UserError: No run there, another spec, another driver, or the disk refuses.
        """
        path = Path(path)
        if spec is None:
            return cls(path, run_files.read_spec(path), None)
        spec = from_json(RunSpec, json.loads(json.dumps(to_json(spec))), "spec")
        exists = run_files.is_run(path)
        if not exists:
            if not create:
                raise run_files.no_run(path)
            run_files.refuse_foreign(path)
        with disk_errors(path):
            (path / "rollouts").mkdir(parents=True, exist_ok=True)
        lock = ProcessLock(path)
        try:
            kept = run_files.read_spec(path) if run_files.is_run(path) else None
            wanted = spec if kept is None else cls(path, kept, None).grown_by(spec)
            if wanted != kept:
                run_files.write_spec(path, wanted)
            run_files.record_session(path, wanted)
            remove_leftovers(path)
            remove_leftovers(path / "rollouts")
            lines.mend_tail(path / "episodes.jsonl", _ROW_REMEDY)
        except BaseException:
            lock.release()
            raise
        return cls(path, wanted, lock)

    @staticmethod
    def there(path: Path) -> bool:
        """Return whether a run is at ``path``."""
        return run_files.is_run(path)

    def close(self) -> None:
        """Let other drivers in."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_driver(self) -> bool:
        """Whether this process may append rows."""
        return self._lock is not None

    def rows(self) -> list[EpisodeRow]:
        """Return one row for every episode that was run, in the order of ``episodes.jsonl``.

        A torn last line is left out, and so is a row whose rollout folder was deleted:
        both run again. Of two rows of one episode the later one counts.

        Raises:
            UserError: A line is damaged; names file, line and remedy.
        """
        path = self.path / "episodes.jsonl"
        found: dict[str, EpisodeRow] = {}
        for number, data in lines.read_lines(path, _ROW_REMEDY):
            try:
                row = from_json(EpisodeRow, data, f"{path}, line {number}")
            except UserError as error:
                raise UserError(f"{error} The line is damaged; {_ROW_REMEDY}.") from error
            found.pop(row.id, None)
            found[row.id] = row
        return [row for row in found.values() if self._is_there(row)]

    def grown_by(self, asked: RunSpec) -> RunSpec:
        """Return the spec that this folder would have if it were asked for ``asked``.

        Raises:
            UserError: It may not, see ``store.growth.grown``.
        """
        return grown(self.spec, asked, self.finished() if other_policies(self.spec, asked) else None)

    def finished(self) -> set[tuple[str, str]]:
        """Return reference and name of every policy that finished an episode."""
        return {(row.policy.ref, row.policy.name) for row in self.rows() if row.status == "finished"}

    def append(self, row: EpisodeRow) -> None:
        """Add ``row``; when this returns it survives a kill and a power cut.

        Raises:
            UserError: The disk is full; nothing was added.
        """
        if self._lock is None:
            raise RuntimeError("only the driver appends rows: open the folder with its spec")
        lines.append_line(self.path / "episodes.jsonl", to_json(row))

    def forget(self, ids: Iterable[str]) -> None:
        """Drop the rows of ``ids``, so that they run again (for example crashed ones)."""
        if self._lock is None:
            raise RuntimeError("only the driver drops rows: open the folder with its spec")
        gone = set(ids)
        kept = [json.dumps(to_json(row), ensure_ascii=False) for row in self.rows() if row.id not in gone]
        write_atomically(self.path / "episodes.jsonl", "".join(f"{line}\n" for line in kept).encode())

    def write_rollout(self, episode: str, trajectory: Trajectory | None, error: str = "") -> None:
        """Write the rollout folder of ``episode`` in one step; an older one is replaced.

        Args:
            episode: Episode id.
            trajectory: The recorded states; ``None`` when it crashed.
            error: Full text for ``error.txt``; empty for none.
        """
        with folder_written_atomically(self.path / "rollouts" / episode) as folder:
            if trajectory is not None:
                from heedful.store.trajectories import encode_trajectory  # heavy: pyarrow

                write_synced(folder / "trajectory.parquet", encode_trajectory(trajectory))
            if error:
                write_synced(folder / "error.txt", error.encode())

    def trajectory(self, episode: str) -> Trajectory:
        """Return the recorded states of ``episode``.

        Raises:
            UserError: The file is missing or damaged; names the episode and the remedy.
        """
        from pyarrow import ArrowException

        from heedful.store.trajectories import decode_trajectory

        path = self._trajectory_path(episode)
        try:
            return decode_trajectory(path.read_bytes())
        except (ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            what = "missing" if isinstance(error, FileNotFoundError) else "damaged"
            raise UserError(
                f"Episode {episode}: {path} is {what}. Delete the folder {path.parent}; "
                "the same `heedful run` command then runs that episode again."
            ) from error

    def rollout(self, row: EpisodeRow) -> Rollout:
        """Return what a judge gets for ``row``."""
        return Rollout(row, None if row.status == "crashed" else self.trajectory(row.id))

    def iter_rollouts(self) -> Iterator[Rollout]:
        """Yield the rollout of every row, one after the other."""
        return (self.rollout(row) for row in self.rows())

    def error(self, episode: str) -> str:
        """Return the full error text of a crashed episode, empty when there is none."""
        path = self.path / "rollouts" / episode / "error.txt"
        return path.read_text() if path.exists() else ""

    def verdicts(self, judge: str, digest: str | None = None) -> dict[str, Verdict]:
        """Return episode id -> verdict of ``judge``; empty when it has not judged yet.

        Args:
            judge: Name of the judge.
            digest: Digest of its rules; ``None``: those it used last.
        """
        return run_files.read_verdicts(self.path, judge, digest)

    def judgement(self) -> dict[str, Verdict]:
        """Return episode id -> verdict of the judge that the metrics rest on.

        Metrics say whose verdicts they were computed from and by which rules. Where old ones do
        not say the rules, the newest verdicts of that judge are taken.

        Raises:
            UserError: The run was not judged yet, or a file is missing or damaged.
        """
        named = str(self.metrics().get("judge", self.spec.suite))
        judge, digest = run_files.judge_and_digest(named)
        if digest is not None and not run_files.verdicts_path(self.path, judge, digest).exists():
            raise UserError(
                f"{self.path} lacks verdicts/{named}.jsonl, which its metrics rest on; "
                f"run `heedful judge {self.path}` again."
            )
        return self.verdicts(judge, digest)

    def write_verdicts(self, judge: str, digest: str, verdicts: Mapping[str, Verdict]) -> Path:
        """Replace the verdicts of ``judge`` under the rules called ``digest``; return the file."""
        path = run_files.verdicts_path(self.path, judge, digest)
        written = [json.dumps(to_json(verdict), ensure_ascii=False) for verdict in verdicts.values()]
        write_atomically(path, "".join(f"{line}\n" for line in written).encode())
        return path

    def metrics(self) -> dict[str, Any]:
        """Return the content of ``metrics.json``.

        Raises:
            UserError: The run was not judged yet, or the file is damaged.
        """
        return run_files.read_metrics(self.path)

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Replace ``metrics.json``; numbers are kept unrounded."""
        text = json.dumps(metrics, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(self.path / "metrics.json", text.encode())

    def lock(self) -> dict[str, Any]:
        """Return ``lock.json``: the spec's digest, and versions and machine of each session."""
        return run_files.read_lock(self.path)

    def video_path(self, episode: str, camera: str) -> Path:
        """Return where the video of ``episode`` from ``camera`` is or would be."""
        return self.path / "rollouts" / episode / f"{camera}.mp4"

    def write_video(self, episode: str, camera: str, images_hwc_u8: NDArray[np.uint8], fps: float) -> Path:
        """Write the video of ``episode`` from ``camera``, [T, H, W, 3] RGB, and return its path."""
        from heedful.store.video import encode_mp4  # heavy: av

        path = self.video_path(episode, camera)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                encode_mp4(images_hwc_u8, fps, temporary)
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
        return path

    @property
    def report_path(self) -> Path:
        """Where the report is or would be."""
        return self.path / "report" / "index.html"

    def _is_there(self, row: EpisodeRow) -> bool:
        path = self._trajectory_path(row.id)
        return path.exists() if row.status == "finished" else path.parent.is_dir()

    def _trajectory_path(self, episode: str) -> Path:
        return self.path / "rollouts" / episode / "trajectory.parquet"
