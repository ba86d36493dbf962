"""A Gemini model, over Google's library."""

from __future__ import annotations

from dataclasses import replace
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

_REFUSALS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"}


class GeminiChat:
    """A ``Chat`` over the library ``google-genai``; it never asks twice by itself."""

    def __init__(
        self, model: str, base_url: str, key: str, key_source: str, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Prepare the client; nothing is sent.

        Args:
            model: The model's name, such as ``gemini-2.5-flash``.
            base_url: The address, without the version of the interface.
            key: The secret.
            key_source: Where the secret came from, as errors say it.
            timeout_s: How long to wait for the server to send anything.
        """
        from google import genai
        from google.genai.types import HttpOptions

        self.model = model
        self.where = f"{model} at {base_url}"
        self._key = key
        self._key_source = key_source
        options = HttpOptions(base_url=base_url, timeout=max(1, round(timeout_s * 1000)))
        self._client = genai.Client(vertexai=False, api_key=key, http_options=options)

    def complete(self, system: str, user: str, sampling: Sampling) -> Reply:
        """Return the model's reply; see ``Chat.complete``."""
        from google.genai import errors
        from google.genai.types import GenerateContentConfig

        config = GenerateContentConfig(
            system_instruction=system,
            max_output_tokens=sampling.max_output_tokens,
            temperature=sampling.temperature,
            response_mime_type="application/json",
        )
        try:
            answer: Any = self._client.models.generate_content(model=self.model, contents=user, config=config)
        except errors.APIError as error:
            raise self._trouble(error) from None
        except (errors.UnknownApiResponseError, ValueError) as error:
            raise self._not_an_answer() from error
        except Exception as error:
            meaning = transport_trouble(self.where, error)
            if meaning is None:
                raise
            raise meaning from None
        if not (answer.candidates or answer.prompt_feedback or answer.usage_metadata):
            raise self._not_an_answer()
        reply = _reply(answer)
        return replace(reply, text=without(reply.text, self._key))

    def _trouble(self, error: Any) -> Exception:
        """Return what an answer with an error status means."""
        status = int(error.code or 500)
        said = str(error.message or "")
        if status in (401, 403) or "API_KEY_INVALID" in str(error.details) or "API key not valid" in said:
            # What the service says here may quote the key: it is not repeated.
            return UserError(f"{self.where} refused the key (HTTP {status}): {self._key_source}.")
        reason = shortened(said, self._key)
        if status == 404 and error.status == "NOT_FOUND":
            return UserError(f"{self.where}: unknown model ({reason}).")
        if status == 404:
            return UserError(f"{self.where}: nothing there (HTTP 404); is the address right?")
        headers = getattr(error.response, "headers", None) or {}
        return status_trouble(self.where, status, reason, headers.get("retry-after"))

    def _not_an_answer(self) -> UserError:
        return UserError(f"{self.where}: the answer is not Gemini's; is the address right?")


def _reply(answer: Any) -> Reply:
    usage = answer.usage_metadata
    tokens: tuple[int | None, int | None] = (None, None)
    if usage is not None and usage.prompt_token_count is not None:
        # Thoughts are billed as output.
        tokens = (
            usage.prompt_token_count,
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
        )
    blocked = answer.prompt_feedback.block_reason if answer.prompt_feedback else None
    if blocked:
        return Reply("", "refused", _name(blocked), *tokens)
    if not answer.candidates:
        return Reply("", "complete", "no candidates", *tokens)
    candidate = answer.candidates[0]
    reason = _name(candidate.finish_reason)
    parts = (candidate.content.parts or []) if candidate.content else []
    text = "".join(part.text for part in parts if isinstance(part.text, str) and not part.thought)
    outcome: Outcome = "complete"
    if reason in _REFUSALS:
        outcome = "refused"
    elif reason == "MAX_TOKENS":
        outcome = "truncated"
    return Reply(text, outcome, reason, *tokens)


def _name(reason: Any) -> str:
    """Return an enumeration's value, also where it is a plain string or absent."""
    return str(getattr(reason, "value", reason) or "")
