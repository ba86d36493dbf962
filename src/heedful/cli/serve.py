"""``heedful serve``: a policy of ours as a server of openpi's or vla-eval's protocol."""

from __future__ import annotations

import os
import signal
import sys
import threading
from enum import StrEnum
from typing import Annotated

import typer

from heedful.cli.options import Json
from heedful.cli.output import results_only
from heedful.cli.refusal import say
from heedful.cli.threads import one_thread


class Protocol(StrEnum):
    """Whose words the server speaks."""

    openpi = "openpi"
    vla_eval = "vla-eval"


def serve(
    policy: Annotated[str, typer.Option("--policy", help="Policy reference, such as reference:policies/co.")],
    protocol: Annotated[Protocol, typer.Option("--protocol", help="Whose protocol the server speaks.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: one that is free.")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; 0.0.0.0 for every network.")
    ] = "127.0.0.1",
    clients: Annotated[
        int, typer.Option("--clients", min=1, help="Clients at a time, a policy instance each.")
    ] = 4,
    as_json: Json = False,
) -> None:
    """Serve a policy to openpi's or vla-eval's clients, heedful among them, until Ctrl-C or SIGTERM."""
    one_thread()  # as in a worker of a run: another sum of threads rounds otherwise
    from heedful.workflows.serving import serving

    with results_only():  # whatever a policy prints
        server = serving(policy, protocol.value, host, port, clients, say)
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        url = f"{protocol.value}://{shown}:{server.port}"
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: stopped.set())
    _announce(policy, url, server.port, as_json)
    with results_only():
        threading.Thread(target=server.serve, daemon=True).start()
        stopped.wait()
        left = server.stop()
    say("stopped" if left else "stopped; a client was in the middle of a look")
    sys.stdout.flush()
    sys.stderr.flush()
    if not left:
        os._exit(0)  # a policy that hangs in a thread must not keep the process


def _announce(policy: str, url: str, port: int, as_json: bool) -> None:
    """Print where the server is, at once: scripts wait for this line."""
    import json

    if as_json:
        line = json.dumps({"url": url, "port": port, "policy": policy})
    else:
        line = f"Serving {policy} as {url} (Ctrl-C stops it). Try: heedful check --policy {url}"
    print(line, flush=True)
