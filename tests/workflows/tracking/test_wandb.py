"""The real wandb: offline, its files read back; online, against a server of our own."""

import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

wandb = pytest.importorskip("wandb", reason="wandb is not installed: pip install 'heedful[wandb]'")

import wandb_files  # noqa: E402
import wandb_server  # noqa: E402

from heedful.spec.codec import to_json  # noqa: E402
from heedful.store.run_folder import RunFolder  # noqa: E402
from heedful.store.tracking_file import read_tracked  # noqa: E402
from heedful.workflows.tracking.seam import Beginning  # noqa: E402
from heedful.workflows.tracking.wandb_client import WandbTracker  # noqa: E402

PLANTED = "planted:color>object>spatial>verb>size"
SMALL = "--pair color,object --rollouts 4 --in-distribution 2 --empty 2 --workers 1"
RUN = f"run factors --policy {PLANTED} {SMALL} --out runs/x"
OFFLINE = {"WANDB_MODE": "offline"}

Command = Callable[..., subprocess.CompletedProcess[str]]

KILLS_ITS_DRIVER = """
import os, signal
from pathlib import Path
from heedful.policies.planted import make
class Policy:
    def __init__(self):
        self._inner = make("color>object>spatial>verb>size")
        self._episodes = 0
    def __getattr__(self, name):
        return getattr(self._inner, name)
    def reset(self, start):
        self._episodes += 1
        if self._episodes == 4 and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getppid(), signal.SIGKILL)
        return self._inner.reset(start)
"""


def estimates(found: Any) -> list[tuple[float | None, ...]]:
    """Return every Estimate of a ``metrics.json``, wherever it stands."""
    if isinstance(found, dict):
        if {"value", "low", "high", "n"} <= set(found):
            return [tuple(found[end] for end in ("value", "low", "high", "n"))]
        return [each for value in found.values() for each in estimates(value)]
    return [each for value in found for each in estimates(value)] if isinstance(found, list) else []


def mirrored(found: dict[str, Any]) -> list[tuple[float | None, ...]]:
    names = sorted(
        name.removesuffix("/n") for name in found if name.startswith("factors/") and name.endswith("/n")
    )
    return [tuple(found[f"{name}/{end}"] for end in ("value", "low", "high", "n")) for name in names]


def as_sortable(found: list[tuple[float | None, ...]]) -> list[str]:
    return sorted(repr(tuple(None if x is None else float(x) for x in each)) for each in found)


@pytest.fixture(scope="module")
def made(heedful: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``runs/x``: run, judged and reported, mirrored offline."""
    here = tmp_path_factory.mktemp("made")
    said = heedful(here, f"{RUN} --track wandb --json", **OFFLINE)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["finished"] == 8  # standard output stays the result
    assert "heedful: wandb: kept offline; send it with: wandb sync runs/x/wandb/offline-run-" in said.stderr
    heedful(here, "judge runs/x")
    said = heedful(here, "report runs/x --no-videos --track wandb", **OFFLINE)
    assert said.returncode == 0, said.stderr
    assert len(said.stdout.splitlines()) == 1
    return here


def test_config_and_counts_are_those_of_the_run(made: Path) -> None:
    first = wandb_files.sessions(made / "runs/x")[0]
    assert wandb_files.config(first) == to_json(RunFolder.open(made / "runs/x").spec)
    begun, last = wandb_files.history(first)
    assert (begun["_step"], begun["episodes/done"]) == (1, 1)
    assert (last["_step"], last["episodes/done"], last["episodes/total"]) == (8, 8, 8)
    assert (last[f"policies/{PLANTED}/finished"], last["episodes/crashed"], last["episodes/retried"]) == (
        8,
        0,
        0,
    )


def test_measures_are_those_of_metrics_json_bit_for_bit(made: Path) -> None:
    (found,) = wandb_files.history(wandb_files.sessions(made / "runs/x")[1])
    metrics = json.loads((made / "runs/x/metrics.json").read_text())
    expected = estimates(metrics)
    assert any(value not in (None, 0.0, 1.0) for each in expected for value in each[:3])
    assert as_sortable(mirrored(found)) == as_sortable(expected)
    fdr = metrics["policies"][0]["pairs"][0]["fdr"]
    assert found[f"factors/{PLANTED}/color>object/fdr/low"] == fdr["low"]
    assert found["_step"] == 9


def test_tables_and_the_path_of_the_report_are_there_and_nothing_else(made: Path) -> None:
    run = made / "runs/x"
    (tables,) = run.glob("wandb/offline-*/files/media/table/tables")
    read = {path.name.split("_")[0]: json.loads(path.read_text()) for path in tables.iterdir()}
    assert set(read) == {"estimates", "counts"}
    metrics = json.loads((run / "metrics.json").read_text())
    assert as_sortable([tuple(row[1:5]) for row in read["estimates"]["data"]]) == as_sortable(
        estimates(metrics)
    )
    last = wandb_files.sessions(run)[1]
    assert wandb_files.summary(last)["report"] == "runs/x/report/index.html"
    allowed = ("factors/", "tables/", "_step", "_timestamp", "_runtime")
    (found,) = wandb_files.history(last)
    assert [name for name in found if not name.startswith(allowed)] == []
    assert {p.name for p in made.iterdir()} == {"runs"}  # no wandb folder where the command was typed


def test_a_run_killed_with_its_driver_goes_on_as_the_same_run(heedful: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(KILLS_ITS_DRIVER)
    line = f"run factors --policy python:mine:Policy {SMALL} --out run --track wandb"
    assert heedful(tmp_path, line, **OFFLINE).returncode == -signal.SIGKILL
    wait_for_all_that_work_in(tmp_path)
    known = read_tracked(tmp_path / "run", "wandb")
    assert heedful(tmp_path, line, **OFFLINE).returncode == 0
    first, second = wandb_files.sessions(tmp_path / "run")
    assert first.name == second.name == f"run-{known.id}.wandb"
    steps = [entry["_step"] for path in (first, second) for entry in wandb_files.history(path)]
    assert steps == sorted(set(steps))
    assert steps[0] == 1
    assert wandb_files.history(second)[0]["episodes/done"] == 4
    assert wandb_files.history(second)[-1]["episodes/done"] == 8


def wait_for_all_that_work_in(folder: Path) -> None:
    """Wait until no process has ``folder`` as its current one: wandb then wrote all that it had."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if Path(os.readlink(entry / "cwd")) != folder:
                continue
            descriptor = os.pidfd_open(int(entry.name))
        except OSError:
            continue
        ended, _, _ = select.select([descriptor], [], [], 60)
        os.close(descriptor)
        assert ended, f"process {entry.name} goes on"


def test_no_login_is_refused_in_one_line_before_anything_is_done(heedful: Command, tmp_path: Path) -> None:
    said = heedful(tmp_path, f"{RUN} --track wandb")
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == (
        "heedful: --track wandb: no API key was found: log in with `wandb login`, or set WANDB_MODE=offline "
        "to keep everything on this machine.\n"
    )
    assert list(tmp_path.iterdir()) == []
    said = heedful(tmp_path, f"{RUN} --track wandb", WANDB_API_KEY="short")
    assert said.returncode == 2
    assert "WANDB_API_KEY invalid" in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_online_the_same_run_is_asked_for_and_only_what_is_said_goes_out(
    heedful: Command, made: Path
) -> None:
    with wandb_server.serving() as server:
        said = heedful(made, "report runs/x --no-videos --track wandb", **server.login)
    assert said.returncode == 0
    known = read_tracked(made / "runs/x", "wandb")
    assert f"heedful: wandb: {server.login['WANDB_BASE_URL']}/somebody/heedful/runs/{known.id}" in said.stderr
    asked = [said.get("variables") or {} for path, said in server.requests if path == "/graphql"]
    assert known.id in {variables.get("name") for variables in asked}
    metrics = json.loads((made / "runs/x/metrics.json").read_text())
    assert as_sortable(mirrored(server.history()[0])) == as_sortable(estimates(metrics))
    files = {name for variables in asked for name in variables.get("files", [])}
    assert {Path(name).name.split("_")[0] for name in files} == {
        "estimates",
        "counts",
        "wandb-summary.json",
        "config.yaml",
    }
    everything = json.dumps(server.requests)
    assert {path.rpartition("/")[2] for path, _ in server.requests} == {
        "graphql",
        "file_stream",
    }  # no telemetry
    assert "Told" not in everything  # sentences of the report
    assert socket.gethostname() not in {variables.get("host") for variables in asked}
    assert str(made) not in everything


def test_online_a_folder_that_grows_goes_on_in_the_same_run(heedful: Command, tmp_path: Path) -> None:
    with wandb_server.serving() as server:
        for policy in (PLANTED, "planted:verb>size>spatial>object>color"):
            said = heedful(tmp_path, f"{RUN.replace(PLANTED, policy)} --track wandb", **server.login)
            assert said.returncode == 0, said.stderr
            assert "warning" not in said.stderr
        names = {
            said["variables"]["name"] for _, said in server.requests if "name" in said.get("variables", {})
        }
    known = read_tracked(tmp_path / "runs/x", "wandb")
    assert known.id in names
    assert [(each["_step"], each["episodes/done"]) for each in server.history()] == [
        (s, s) for s in (1, 8, 9, 16)
    ]
    assert server.history()[-1]["episodes/total"] == 16
    spec = to_json(RunFolder.open(tmp_path / "runs/x").spec)
    assert len(spec["policies"]) == 2
    assert server.config["policies"]["value"] == spec["policies"]


def test_a_server_that_refuses_costs_one_line_and_the_run_is_kept_offline(
    heedful: Command, tmp_path: Path
) -> None:
    with wandb_server.serving(status=403) as server:
        said = heedful(tmp_path, f"{RUN} --track wandb --json", **server.login)
    assert said.returncode == 0
    assert json.loads(said.stdout)["finished"] == 8
    (line,) = [line for line in said.stderr.splitlines() if "wandb" in line]
    assert line.startswith("heedful: warning: wandb: ")
    assert "send it later with: wandb sync runs/x/wandb/offline-run-" in line
    (kept,) = wandb_files.sessions(tmp_path / "runs/x")
    assert wandb_files.history(kept)[-1]["episodes/done"] == 8


@pytest.mark.slow
def test_a_server_that_stops_answering_is_given_up_at_the_end(heedful: Command, tmp_path: Path) -> None:
    with wandb_server.serving(keeps_waiting=True) as server:
        said = heedful(tmp_path, f"{RUN} --track wandb", **server.login)
    assert said.returncode == 0
    assert "8 finished now" in said.stdout
    (line,) = [line for line in said.stderr.splitlines() if "warning" in line]
    assert (
        "wandb: not everything was sent within 30 s; send the rest with: wandb sync runs/x/wandb/run-" in line
    )


@pytest.mark.slow
def test_no_network_costs_one_line_and_the_run_is_kept_offline(heedful: Command, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
        login = {"WANDB_BASE_URL": nowhere, "WANDB_API_KEY": wandb_server.KEY}
        said = heedful(tmp_path, f"{RUN} --track wandb", **login)
    assert said.returncode == 0
    (line,) = [line for line in said.stderr.splitlines() if "wandb" in line]
    assert "connection refused" in line
    (kept,) = wandb_files.sessions(tmp_path / "runs/x")
    assert wandb_files.history(kept)[-1]["episodes/done"] == 8


def test_a_tracker_that_is_killed_costs_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("HOME", str(tmp_path))
    told: list[str] = []
    tracker = WandbTracker(told.append)
    tracker.begin(Beginning(tmp_path, "abc", {}))
    tracker._process.kill()
    tracker._process.wait()
    for step in range(2000):
        tracker.log(step, {"episodes/done": step})
    tracker.finish(2000, None)
    tracker.close()
    assert [line for line in told if "kept offline" not in line] == [
        "warning: wandb: it ended unexpectedly; the run goes on without it."
    ]
