"""A language model's server that speaks the real wire formats of OpenAI and Gemini on 127.0.0.1."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GEMINI_PATH = re.compile(r"/v1(?:beta)?/models/(?P<model>[^:]+):generateContent")
GEMINI_REASON = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


@dataclass(frozen=True)
class Question:
    """A request as it came over the wire."""

    provider: str
    model: str
    system: str
    user: str
    body: dict[str, Any]
    key: str

    @property
    def data(self) -> Any:
        return json.loads(self.user)


@dataclass(frozen=True)
class Say:
    """An ordinary answer."""

    text: str | None
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 20)
    refusal: str | None = None


@dataclass(frozen=True)
class Status:
    """An answer with an error status."""

    code: int
    body: dict[str, Any] | str = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Anything at all, with status 200."""

    content: bytes
    kind: str = "application/json"


HANG = object()
"""Never answer (until the server closes)."""
DROP = object()
"""Close the connection without a word."""

Answer = Say | Status | Raw | object


class WireServer:
    """Answers as ``script`` says, and remembers every question."""

    def __init__(self, script: Callable[[Question], Answer], key: str | None = None) -> None:
        self.script = script
        self.key = key
        self.questions: list[Question] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.root}/v1"

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        question = read_question(handler, body)
        if question is None:
            send(handler, 404, b"<html>no such page</html>", "text/html")
            return
        with self._lock:
            self.questions.append(question)
        if self.key is not None and question.key != self.key:
            send_json(handler, *wrong_key(question))
            return
        answer = self.script(question)
        if answer is HANG:
            self.closing.wait(30)
        elif answer is DROP:
            handler.close_connection = True
        elif isinstance(answer, Status):
            if isinstance(answer.body, str):
                send(handler, answer.code, answer.body.encode(), "text/html", answer.headers)
            else:
                send_json(handler, answer.code, answer.body, answer.headers)
        elif isinstance(answer, Raw):
            send(handler, 200, answer.content, answer.kind)
        elif isinstance(answer, Say):
            spoken = gemini_body if question.provider == "gemini" else openai_body
            send_json(handler, 200, spoken(question, answer))


def read_question(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> Question | None:
    if handler.path == "/v1/chat/completions":
        system, user = (message["content"] for message in body["messages"])
        key = handler.headers["Authorization"].removeprefix("Bearer ")
        return Question("openai", body["model"], system, user, body, key)
    found = GEMINI_PATH.fullmatch(handler.path)
    if found is None:
        return None
    system = body["systemInstruction"]["parts"][0]["text"]
    user = body["contents"][0]["parts"][0]["text"]
    return Question("gemini", found["model"], system, user, body, handler.headers["x-goog-api-key"])


def openai_body(question: Question, said: Say) -> dict[str, Any]:
    message = {"role": "assistant", "content": said.text, "refusal": said.refusal}
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": question.model,
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish, "logprobs": None}],
    }
    if said.usage:
        read, written = said.usage
        body["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return body


def gemini_body(question: Question, said: Say) -> dict[str, Any]:
    body: dict[str, Any] = {"modelVersion": question.model, "responseId": "1"}
    if said.refusal:
        body["promptFeedback"] = {"blockReason": "PROHIBITED_CONTENT"}
    else:
        candidate: dict[str, Any] = {"finishReason": GEMINI_REASON[said.finish], "index": 0}
        if said.text is not None:
            parts = [{"text": "let me think", "thought": True}, {"text": said.text}]
            candidate["content"] = {"role": "model", "parts": parts}
        body["candidates"] = [candidate]
    if said.usage:
        read, written = said.usage
        body["usageMetadata"] = {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "thoughtsTokenCount": 7,
            "totalTokenCount": read + written + 7,
        }
    return body


def wrong_key(question: Question) -> tuple[int, dict[str, Any]]:
    if question.provider == "openai":
        message = f"Incorrect API key provided: {question.key}."
        error = {
            "message": message,
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_api_key",
        }
        return 401, {"error": error}
    detail = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    message = f"API key not valid: {question.key}."
    return 400, {
        "error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT", "details": [detail]}
    }


def openai_error(message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def gemini_error(code: int, message: str, status: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


def send_json(
    handler: BaseHTTPRequestHandler, status: int, body: object, headers: dict[str, str] | None = None
) -> None:
    send(handler, status, json.dumps(body).encode(), "application/json", headers)


def send(
    handler: BaseHTTPRequestHandler,
    status: int,
    content: bytes,
    kind: str,
    headers: dict[str, str] | None = None,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def serving(script: Callable[[Question], Answer], key: str | None = None) -> Iterator[WireServer]:
    server = WireServer(script, key)
    try:
        yield server
    finally:
        server.close()


def scholar(question: Question) -> Answer:
    """Answer as good models would: as many fresh paraphrases as asked for, and all of them fine."""
    data = question.data
    if "paraphrases" in data:
        return Say(verdicts(question, lambda text: True))
    kinds = " ".join(map(" ".join, re.findall(r"How the (\w+) is to be worded \((\w+)\)", question.system)))
    count = len(data["pairs"]) if "pairs" in data else data["count"]
    start = len(data["do_not_repeat"])
    return Say(json.dumps([f"{data['original']} {kinds} number {start + i}" for i in range(count)]))


def verdicts(question: Question, good: Callable[[str], bool], failing: str = "same_action") -> str:
    """Return a verifier's answer in which texts that are not ``good`` fail one check."""
    checks = re.findall(r"^- ([a-z_]+): ", question.system.split("each true or false:")[1], re.MULTILINE)
    return json.dumps(
        [
            {
                "id": entry["id"],
                **dict.fromkeys(checks, True),
                **({} if good(entry["text"]) else {failing: False}),
            }
            for entry in question.data["paraphrases"]
        ]
    )
