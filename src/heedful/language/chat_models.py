"""Names of language models, as a user gives them, become clients."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from heedful.language.chat import TIMEOUT_S, Chat
from heedful.language.chat_patience import PatientChat
from heedful.spec.errors import UserError

Provider = Literal["openai", "gemini"]
OWN_URL: dict[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/",
}
OWN_KEY: dict[Provider, str] = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}


@dataclass(frozen=True)
class ModelChoice:
    """A model, where it is, and where its key is; never the key itself.

    Attributes:
        name: As results name it: ``openai:gpt-4.1``, ``gemini:gemini-2.5-flash``, or the bare
            name where a server of the user's own is asked.
        provider: Which wire format is spoken.
        model: The model's name at the service.
        base_url: Its address.
        key_env: Environment variable that holds the key; empty: no key is sent.
    """

    name: str
    provider: Provider
    model: str
    base_url: str
    key_env: str


def model_choice(reference: str, base_url: str | None = None, api_key_env: str | None = None) -> ModelChoice:
    """Return the model that a user named.

    To an address of the user's own only a key is sent that the user named for it: the key of
    one service is no business of another.

    Args:
        reference: ``openai:MODEL``, ``gemini:MODEL``, or ``MODEL`` together with ``base_url``.
        base_url: Address of an OpenAI-compatible server (or a proxy of Gemini's).
        api_key_env: Environment variable that holds the key.

    Raises:
        UserError: No model named, no address for a bare name, or an address that cannot be one.
    """
    prefix, colon, rest = reference.strip().partition(":")
    known: dict[str, Provider] = {"openai": "openai", "gemini": "gemini"}
    provider = known.get(prefix) if colon else None
    model = rest.strip() if provider else reference.strip()
    if not model:
        raise UserError(f"The model {reference!r} has no name; write openai:MODEL or gemini:MODEL.")
    if provider is None and base_url is None:
        raise UserError(
            f"Where is the model {model!r}? Write openai:{model} or gemini:{model}, or give the address of "
            "an OpenAI-compatible server with --base-url."
        )
    kind: Provider = provider or "openai"
    return ModelChoice(
        name=reference.strip() if base_url else f"{kind}:{model}",
        provider=kind,
        model=model,
        base_url=OWN_URL[kind] if base_url is None else _address(base_url),
        key_env=api_key_env or ("" if base_url else OWN_KEY[kind]),
    )


def connect(
    choice: ModelChoice,
    environment: Mapping[str, str] | None = None,
    pause: Callable[[float], object] = time.sleep,
    timeout_s: float = TIMEOUT_S,
) -> Chat:
    """Return a client of ``choice`` that asks again while the service is busy. Sends nothing.

    Args:
        choice: The model.
        environment: Where keys are; the process's own by default.
        pause: How to wait before asking again.
        timeout_s: How long to wait for the server to send anything.

    Raises:
        UserError: The key is missing, or the client's package is.
    """
    key, source = _key(choice, os.environ if environment is None else environment)
    try:
        if choice.provider == "gemini":
            from heedful.language.chat_gemini import GeminiChat

            gemini = GeminiChat(choice.model, choice.base_url, key or "none", source, timeout_s)
            return PatientChat(gemini, gemini.where, pause=pause)
        from heedful.language.chat_openai import OpenAIChat

        client = OpenAIChat(choice.model, choice.base_url, key, source, timeout_s)
        return PatientChat(client, client.where, pause=pause)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("openai", "google"):
            raise
        raise UserError(
            f"{choice.name} needs the package {error.name!r}: pip install 'heedful[vlm]'."
        ) from error


def _key(choice: ModelChoice, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the key and, for an error's sentence, where it came from."""
    if not choice.key_env:
        return "", "none was sent; name the environment variable that holds it with --api-key-env"
    key = environment.get(choice.key_env, "").strip()
    if not key:
        raise UserError(
            f"No key for {choice.name}: set the environment variable {choice.key_env}, "
            "or name another with --api-key-env."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UserError(f"{choice.key_env} holds spaces or letters that no key has; set it anew.")
    return key, f"look at the environment variable {choice.key_env}"


def _address(url: str) -> str:
    """Return a base URL without its last slash, refusing what is none or carries a secret."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port  # raises for a port that is no number
    except ValueError as error:
        raise UserError(f"The address {url!r} is not valid ({error}).") from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UserError("The address of a model must hold no user, password, ? or #; keys go into variables.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"The address {url!r} is not valid; an example: http://localhost:8000/v1.")
    return url.strip().rstrip("/")
