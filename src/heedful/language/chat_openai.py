"""A model behind OpenAI's chat completions, or any server that speaks the same (vLLM, Ollama ...)."""

from __future__ import annotations

from typing import Any

from heedful.language.chat import (
    TIMEOUT_S,
    Outcome,
    Reply,
    Sampling,
    shortened,
    status_trouble,
    transport_trouble,
    without,
)
from heedful.spec.errors import UserError

_FILTERED = {"content_filter", "content_policy_violation"}


class OpenAIChat:
    """A ``Chat`` over the library ``openai``; it never asks twice by itself."""

    def __init__(
        self, model: str, base_url: str, key: str, key_source: str, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Prepare the client; nothing is sent.

        Args:
            model: The model's name at the service.
            base_url: The address up to and including ``/v1``.
            key: The secret; empty where the server wants none.
            key_source: Where the secret came from, or what to do for one, as errors say it.
            timeout_s: How long to wait for the server to send anything.
        """
        from openai import OpenAI

        self.model = model
        self.where = f"{model} at {base_url}"
        self._key = key
        self._key_source = key_source
        # The library insists on a key; a server that wants none ignores it.
        self._client = OpenAI(api_key=key or "none", base_url=base_url, timeout=timeout_s, max_retries=0)
        self._limit_name = "max_completion_tokens" if "api.openai.com" in base_url else "max_tokens"
        self._takes_temperature = True

    def complete(self, system: str, user: str, sampling: Sampling) -> Reply:
        """Return the model's reply; see ``Chat.complete``."""
        import openai

        messages: list[Any] = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        while True:
            parameters = self._parameters(sampling)
            try:
                answer: Any = self._client.chat.completions.create(
                    model=self.model, messages=messages, **parameters
                )
            except openai.APIStatusError as error:
                if error.status_code == 400 and _filtered(error):
                    return Reply("", "refused", "content_filter")
                if error.status_code == 400 and self._adapted(error, parameters):
                    continue
                raise self._trouble(error) from None
            except openai.APIConnectionError as error:
                raise self._below(error) from None
            except (openai.APIResponseValidationError, ValueError) as error:
                raise self._not_a_completion() from error
            return self._reply(answer)

    def _parameters(self, sampling: Sampling) -> dict[str, Any]:
        parameters: dict[str, Any] = {self._limit_name: sampling.max_output_tokens}
        if sampling.temperature is not None and self._takes_temperature:
            parameters["temperature"] = sampling.temperature
        return parameters

    def _adapted(self, error: Any, parameters: dict[str, Any]) -> bool:
        """Give up a parameter that this model does not take; return whether to ask again.

        Reasoning models refuse a temperature and know the limit by its newer name only, older
        servers by its older name only.
        """
        named = f"{error.param or ''} {error.message}"
        if "temperature" in named and "temperature" in parameters:
            self._takes_temperature = False
            return True
        if self._limit_name in named and "max_tokens" in parameters:
            self._limit_name = "max_completion_tokens"
            return True
        return False

    def _reply(self, answer: Any) -> Reply:
        from openai.types.chat import ChatCompletion

        failure = getattr(answer, "error", None)
        if isinstance(failure, dict):  # some routers wrap the trouble of another service in a 200
            said = shortened(str(failure.get("message", "")), self._key)
            code = failure.get("code")
            raise status_trouble(self.where, code if isinstance(code, int) else 500, said, None)
        choices = getattr(answer, "choices", None)
        if not isinstance(answer, ChatCompletion) or not isinstance(choices, list):
            raise self._not_a_completion()
        if not choices:
            return Reply("", "complete", "no choices", *_usage(answer))
        message = getattr(choices[0], "message", None)
        reason = str(getattr(choices[0], "finish_reason", None) or "")
        text = getattr(message, "content", None)
        outcome: Outcome = "complete"
        if getattr(message, "refusal", None) or reason == "content_filter":
            outcome = "refused"
        elif reason == "length":
            outcome = "truncated"
        said = without(text, self._key) if isinstance(text, str) else ""
        return Reply(said, outcome, reason, *_usage(answer))

    def _trouble(self, error: Any) -> Exception:
        """Return what an answer with an error status means."""
        status: int = error.status_code
        body = error.body if isinstance(error.body, dict) else {}
        code = str(error.code or body.get("type") or "")
        reason = shortened(str(body.get("message") or code), self._key)
        if status in (401, 403):
            # What the service says here may quote the key: it is not repeated.
            return UserError(f"{self.where} refused the key (HTTP {status}): {self._key_source}.")
        if status == 404 and body:
            return UserError(f"{self.where}: unknown model or address ({reason or 'HTTP 404'}).")
        if status == 404:
            return UserError(f"{self.where}: nothing there (HTTP 404); the address usually ends in /v1.")
        if code == "insufficient_quota":
            return UserError(f"{self.where}: the account's quota is used up ({reason}).")
        return status_trouble(self.where, status, reason, error.response.headers.get("retry-after"))

    def _below(self, error: BaseException) -> Exception:
        """Return what a failure to reach the server means; the network's own error is its cause."""
        import openai

        cause = error.__cause__ or error
        if isinstance(error, openai.APITimeoutError):
            return status_trouble(self.where, 408, "no answer in time", None)
        return transport_trouble(self.where, cause) or UserError(f"{self.where}: {shortened(str(cause))}.")

    def _not_a_completion(self) -> UserError:
        return UserError(
            f"{self.where}: the answer is no chat completion; is it the address of an OpenAI-compatible "
            "server, ending in /v1?"
        )


def _filtered(error: Any) -> bool:
    """Return whether a filter declined the question (Azure answers so), rather than a fault in it."""
    return str(error.code or "") in _FILTERED


def _usage(answer: Any) -> tuple[int | None, int | None]:
    usage = getattr(answer, "usage", None)
    counts = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    first, second = (n if isinstance(n, int) else None for n in counts)
    return first, second
