"""Weights that change while a run is under way are noticed wherever a policy is loaded once more."""

import multiprocessing
import os
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest
from rollout_doubles import cases

from heedful.policies.digests import digest_of
from heedful.rollouts.plan import plan
from heedful.rollouts.pool import Pool
from heedful.rollouts.run import RunCounts, run
from heedful.rollouts.runner import Compared, ContractCheck, EpisodeRunner
from heedful.rollouts.shared.site import shared_pool
from heedful.spec.case import PolicyEntry
from heedful.spec.errors import UserError
from heedful.spec.progress import Progress, silent
from heedful.spec.run import RunSpec
from heedful.store.run_folder import RunFolder

MODULE = "from shared_doubles import Sharable\nclass Slow(Sharable):\n    training_seed = 7\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / f"weights_{tmp_path.name}.py"
    path.write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "shared"))
    return path


def do(folder: Path, entry: PolicyEntry, share: bool, progress: Progress = silent) -> RunCounts:
    wanted = RunSpec("double", {}, (entry,), "double")
    runner = EpisodeRunner(str(folder), "double", {})
    with (
        shared_pool(1) if share else nullcontext(Pool(1)) as pool,
        pool.crew(runner) as crew,
        RunFolder.open(folder, wanted) as opened,
    ):
        return run(opened, plan(wanted, cases(6)), 1, progress, crew=crew, compared={entry.ref})


def test_a_comparison_tells_who_the_policy_is(module: Path) -> None:
    ref = f"python:{module.stem}:Slow:slow"
    found = EpisodeRunner("", "double", {})(ContractCheck(ref))
    assert found == Compared((), digest_of(ref), 7)
    (mismatch,) = EpisodeRunner("", "double", {})(ContractCheck("double:camera")).mismatches  # type: ignore[union-attr]  # of a check
    assert "camera 'nose'" in mismatch


@pytest.mark.parametrize("share", [False, True])
def test_a_policy_that_is_another_one_after_its_process_died_ends_the_run(
    tmp_path: Path, module: Path, share: bool
) -> None:
    ref = f"python:{module.stem}:Slow:slow"
    name = "heedful-policies" if share else "heedful-worker"

    def train_again(stage: str, done: int, total: int, note: str = "") -> None:
        if done == 2:
            module.write_text(MODULE + "# trained again\n")
            (process,) = [child for child in multiprocessing.active_children() if child.name == name]
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)

    old = PolicyEntry(ref, "mine", digest=digest_of(ref))
    with pytest.raises(UserError) as refused:
        do(tmp_path / "run", old, share, train_again)
    new = digest_of(ref)
    assert str(refused.value) == (
        f"Policy mine ({ref}) is another one now than when this run was made: "
        f"digest {new}, {old.digest} in the run. Use a new run folder."
    )
    kept = RunFolder.open(tmp_path / "run").rows()
    assert len(kept) == 2 and {row.status for row in kept} == {"finished"}
    with pytest.raises(UserError, match="is another one now"):
        do(tmp_path / "run", old, share)
    assert do(tmp_path / "new", PolicyEntry(ref, "mine", digest=new), share) == RunCounts(0, 6, 0)


def test_another_policy_is_refused_as_such_even_where_it_does_not_fit_the_world() -> None:
    entry = PolicyEntry("double:camera", "mine", digest="0123456789ab")
    (episode,) = plan(RunSpec("double", {}, (entry,), "double"), cases(1))
    with pytest.raises(UserError, match="is another one now .* digest unknown, 0123456789ab in the run"):
        EpisodeRunner("", "double", {})(episode)


def test_a_policy_of_unknown_identity_is_run(tmp_path: Path) -> None:
    entry = PolicyEntry("double:", "good")
    assert do(tmp_path / "run", entry, share=False) == RunCounts(0, 6, 0)
