"""Both clients, with their real libraries, against a server that speaks the real wire formats."""

import socket
from collections.abc import Callable

import pytest
from wire_server import (
    DROP,
    HANG,
    Answer,
    Question,
    Raw,
    Say,
    Status,
    WireServer,
    gemini_error,
    openai_error,
    serving,
)

from heedful.language.chat import Chat, Reply, Sampling
from heedful.language.chat_models import connect, model_choice
from heedful.spec.errors import UserError

KEY = "sk-secret-0123456789"
BOTH = pytest.mark.parametrize("provider", ["openai", "gemini"])


class Waits:
    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(
    provider: str, server: WireServer, waits: Waits | None = None, key: str = KEY, timeout_s: float = 20.0
) -> Chat:
    url = server.openai_url if provider == "openai" else server.root
    choice = model_choice(f"{provider}:some-model", url, "MY_KEY")
    return connect(choice, {"MY_KEY": key}, waits or Waits(), timeout_s)


def answered(provider: str, answer: Answer, sampling: Sampling = Sampling()) -> Reply:  # noqa: B008
    with serving(lambda question: answer) as server:
        return client(provider, server).complete("be brief", "hello", sampling)


def refused(provider: str, script: Callable[[Question], Answer], **more: object) -> str:
    with serving(script) as server, pytest.raises(UserError) as caught:
        client(provider, server, **more).complete("be brief", "hello", Sampling())  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return str(caught.value)


def in_turn(*answers: Answer) -> Callable[[Question], Answer]:
    left = list(answers)
    return lambda question: left.pop(0) if len(left) > 1 else left[0]


@BOTH
def test_a_question_goes_out_as_the_service_wants_it_and_the_reply_comes_back_whole(provider: str) -> None:
    words = 'héllo "wörld" 机器人 🤖\n{"a": 1}'
    with serving(lambda question: Say(words), KEY) as server:
        reply = client(provider, server).complete("be brief", words, Sampling(77, 0.5))
    (question,) = server.questions
    assert (question.provider, question.model) == (provider, "some-model")
    assert (question.system, question.user, question.key) == ("be brief", words, KEY)
    if provider == "openai":
        assert (question.body["max_tokens"], question.body["temperature"]) == (77, 0.5)
    else:
        config = question.body["generationConfig"]
        assert (config["maxOutputTokens"], config["temperature"]) == (77, 0.5)
    assert (reply.text, reply.outcome) == (words, "complete")
    thoughts = 0 if provider == "openai" else 7
    assert (reply.input_tokens, reply.output_tokens) == (100, 20 + thoughts)


@BOTH
@pytest.mark.parametrize(
    ("said", "outcome", "text"),
    [
        (Say("[", "length"), "truncated", "["),
        (Say(None, "length"), "truncated", ""),
        (Say(None, refusal="I cannot help with that."), "refused", ""),
        (Say(None, "content_filter"), "refused", ""),
        (Say(""), "complete", ""),
        (Say(None), "complete", ""),
    ],
)
def test_refused_truncated_and_empty_answers_are_told_apart(
    provider: str, said: Say, outcome: str, text: str
) -> None:
    reply = answered(provider, said)
    assert (reply.outcome, reply.text) == (outcome, text)


@BOTH
def test_tokens_that_the_service_does_not_count_are_unknown_not_zero(provider: str) -> None:
    reply = answered(provider, Say("[]", usage=None))
    assert (reply.input_tokens, reply.output_tokens) == (None, None)


@BOTH
def test_a_busy_service_is_asked_again_after_longer_and_longer_waits(provider: str) -> None:
    waits = Waits()
    script = in_turn(Status(429), Status(503), DROP, Status(429, headers={"Retry-After": "17"}), Say("yes"))
    with serving(script) as server:
        assert client(provider, server, waits).complete("s", "u", Sampling()).text == "yes"
    assert len(server.questions) == 5
    assert waits.seconds == [1, 2, 4, 17]


@BOTH
@pytest.mark.parametrize("code", [500, 502, 429])
def test_a_service_that_never_recovers_is_given_up_in_one_line(provider: str, code: int) -> None:
    waits, asked = Waits(), []

    def script(question: Question) -> Answer:
        asked.append(1)
        return Status(code, "<html>oh\nno</html>", {"Retry-After": "100000"})

    message = refused(provider, script, waits=waits)
    assert len(asked) == 6
    assert waits.seconds == [60] * 5
    assert f"HTTP {code}" in message
    assert "6 tries" in message


@BOTH
def test_a_service_that_does_not_answer_in_time_is_given_up(provider: str) -> None:
    assert "no answer in time" in refused(provider, lambda question: HANG, timeout_s=0.05)


@BOTH
def test_a_refused_connection_is_not_tried_again(provider: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    waits = Waits()
    chat = connect(model_choice(f"{provider}:m", f"http://127.0.0.1:{port}"), {}, waits)
    with pytest.raises(UserError, match=rf"127\.0\.0\.1:{port}.*no connection.*Is the server running"):
        chat.complete("s", "u", Sampling())
    assert waits.seconds == []


@BOTH
def test_a_wrong_key_names_the_variable_and_never_the_key(provider: str) -> None:
    with serving(lambda question: Say("[]"), key="another") as server, pytest.raises(UserError) as caught:
        client(provider, server).complete("s", "u", Sampling())
    assert "refused the key" in str(caught.value)
    assert "MY_KEY" in str(caught.value)
    assert KEY not in str(caught.value)


@BOTH
def test_a_server_that_repeats_the_key_in_its_answer_does_not_spread_it(provider: str) -> None:
    assert answered(provider, Say(f"your key is {KEY}!")).text == "your key is ***!"
    assert "***" in refused(
        provider,
        lambda q: Status(
            400,
            openai_error(f"bad {KEY}")
            if provider == "openai"
            else gemini_error(400, f"bad {KEY}", "INVALID_ARGUMENT"),
        ),
    )


def test_an_unknown_model_is_named() -> None:
    gone = openai_error("The model `some-model` does not exist", "model_not_found")
    assert "unknown model or address (The model `some-model` does not exist)" in refused(
        "openai", lambda question: Status(404, gone)
    )
    gone = gemini_error(404, "models/some-model is not found", "NOT_FOUND")
    assert "unknown model (models/some-model is not found)" in refused(
        "gemini", lambda question: Status(404, gone)
    )


@BOTH
def test_an_address_with_another_path_says_what_it_should_look_like(provider: str) -> None:
    with serving(lambda question: Say("[]")) as server:
        choice = model_choice(f"{provider}:m", f"{server.root}/elsewhere")
        with pytest.raises(UserError, match=r"HTTP 404.*(/v1|address right)"):
            connect(choice, {}, Waits()).complete("s", "u", Sampling())


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        Raw(b"<html>welcome</html>", "text/html"),
        Raw(b"{", "application/json"),
        Raw(b'"hello"', "application/json"),
        Raw(b"[1, 2]", "application/json"),
    ],
)
def test_a_website_is_no_model(provider: str, answer: Raw) -> None:
    assert "address" in refused(provider, lambda question: answer)


def test_a_model_that_takes_no_temperature_or_knows_the_limit_by_its_newer_name_is_asked_as_it_likes() -> (
    None
):
    def script(question: Question) -> Answer:
        if "max_tokens" in question.body:
            return Status(400, openai_error("Use 'max_completion_tokens' instead.", None, "max_tokens"))
        if "temperature" in question.body:
            return Status(400, openai_error("Unsupported value: 'temperature'", None, "temperature"))
        return Say("fine")

    with serving(script) as server:
        chat = client("openai", server)
        assert chat.complete("s", "u", Sampling(50, 0.0)).text == "fine"
        assert len(server.questions) == 3
        assert chat.complete("s", "u", Sampling(50, 0.0)).text == "fine"
        assert len(server.questions) == 4
    assert server.questions[-1].body["max_completion_tokens"] == 50


def test_a_request_that_is_wrong_for_another_reason_is_not_repeated() -> None:
    waits = Waits()
    assert "too long" in refused(
        "openai", lambda question: Status(400, openai_error("context too long")), waits=waits
    )
    assert waits.seconds == []


def test_a_filter_in_front_of_the_model_counts_as_a_refusal() -> None:
    reply = answered("openai", Status(400, openai_error("filtered", "content_filter")))
    assert reply.outcome == "refused"


def test_an_account_without_quota_is_not_asked_again() -> None:
    waits = Waits()
    broke = openai_error("You exceeded your current quota", "insufficient_quota")
    assert "quota is used up" in refused("openai", lambda question: Status(429, broke), waits=waits)
    assert waits.seconds == []


def test_a_router_that_wraps_another_service_s_trouble_in_a_200_is_asked_again() -> None:
    trouble = b'{"error": {"code": 502, "message": "provider returned error"}}'
    with serving(in_turn(Raw(trouble), Say("fine"))) as server:
        assert client("openai", server).complete("s", "u", Sampling()).text == "fine"
