"""A server that wandb takes for its own, as far as needed to see what is sent to it."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "0123456789" * 4
ENTITY = {"id": "e", "name": "somebody"}
PROJECT = {"id": "p", "name": "heedful", "entity": ENTITY}


class Handler(BaseHTTPRequestHandler):
    """Answers what a run asks before it goes on; everything else is an error that wandb lives with."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        said = json.loads(body) if body.startswith(b"{") else {"binary": body.decode(errors="replace")}
        self.server.requests.append((self.path, said))
        if self.server.keeps_waiting and self.path.endswith("file_stream"):
            self.server.closing.wait()
        answer = json.dumps(self._answer(said) if self.path == "/graphql" else {}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_POST

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, said: dict[str, Any]) -> dict[str, Any]:
        asked = said.get("variables") or {}
        match said.get("operationName"):
            case "Viewer":
                viewer = {"id": "v", "entity": "somebody", "username": "somebody", "flags": "{}"}
                return {"data": {"viewer": {**viewer, "teams": {"edges": []}}}}
            case "RunResumeStatus":
                return {"data": {"model": {**PROJECT, "bucket": self._kept(asked["name"])}}}
            case "UpsertBucket":
                if asked.get("config"):
                    self.server.config = json.loads(asked["config"])
                bucket = {"id": "b", "name": asked.get("name"), "displayName": asked.get("displayName")}
                bucket |= {"config": "{}", "historyLineCount": len(self.server.history()), "project": PROJECT}
                return {"data": {"upsertBucket": {"bucket": bucket, "inserted": True}}}
        return {"data": None, "errors": [{"message": "not known here"}]}

    def _kept(self, name: str) -> dict[str, Any] | None:
        """Return what a run that goes on is told of itself; ``None`` for one that is new."""
        entries = self.server.history()
        if not entries:
            return None
        lines = {"logLineCount": 0, "historyLineCount": len(entries), "eventsLineCount": 0}
        tails = {"historyTail": json.dumps([json.dumps(entries[-1])]), "eventsTail": "[]"}
        known = {"config": json.dumps(self.server.config), "summaryMetrics": "{}", "tags": [], "notes": None}
        return {"id": "b", "name": name, "displayName": name, "wandbConfig": "{}", **lines, **tails, **known}


class Server(ThreadingHTTPServer):
    """Keeps what it was sent."""

    def __init__(self, status: int, keeps_waiting: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = status
        self.keeps_waiting = keeps_waiting
        self.closing = threading.Event()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.config: dict[str, Any] = {}

    @property
    def login(self) -> dict[str, str]:
        """Return the environment of a user who is logged in here."""
        return {"WANDB_BASE_URL": f"http://127.0.0.1:{self.server_port}", "WANDB_API_KEY": KEY}

    def history(self) -> list[dict[str, Any]]:
        """Return name -> value of each entry of the history that arrived, ``_step`` among them."""
        return [
            json.loads(line)
            for path, said in self.requests
            if path.endswith("file_stream")
            for line in said.get("files", {}).get("wandb-history.jsonl", {}).get("content", [])
        ]


@contextmanager
def serving(status: int = 200, keeps_waiting: bool = False) -> Iterator[Server]:
    """Yield a running server that answers with ``status``, or never once there is something to keep."""
    server = Server(status, keeps_waiting)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
