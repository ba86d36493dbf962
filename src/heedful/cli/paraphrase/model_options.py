"""The options that let language models write paraphrases."""

from __future__ import annotations

from typing import Annotated

import typer

_PANEL = "Written by a language model"


def _given(help_text: str, *names: str, least: float | None = None) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(*names, help=help_text, rich_help_panel=_PANEL, min=least)
    return option


Model = Annotated[
    str | None,
    _given("Who writes: openai:MODEL, gemini:MODEL, or a NAME together with --base-url.", "--model"),
]
BaseUrl = Annotated[
    str | None,
    _given("Address of an OpenAI-compatible server, such as http://localhost:8000/v1.", "--base-url"),
]
KeyEnv = Annotated[
    str | None,
    _given(
        "Environment variable with the key (OPENAI_API_KEY, GEMINI_API_KEY; none at a --base-url).",
        "--api-key-env",
    ),
]
Verifier = Annotated[
    str | None, _given("Who checks, like --model; better another model than the writer.", "--verifier")
]
VerifierBaseUrl = Annotated[str | None, _given("Address of the verifier's server.", "--verifier-base-url")]
VerifierKeyEnv = Annotated[
    str | None, _given("Environment variable with the verifier's key.", "--verifier-api-key-env")
]
PriceIn = Annotated[float | None, _given("Price of a million tokens read.", "--price-in", least=0)]
PriceOut = Annotated[float | None, _given("Price of a million tokens written.", "--price-out", least=0)]
VerifierPriceIn = Annotated[
    float | None, _given("The same for the verifier.", "--verifier-price-in", least=0)
]
VerifierPriceOut = Annotated[
    float | None, _given("The same for the verifier.", "--verifier-price-out", least=0)
]
MaxCalls = Annotated[
    int | None,
    _given("Stop before more calls than this, those of earlier commands included.", "--max-calls", least=1),
]
DryRunCalls = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the number of calls, and ask nothing.", rich_help_panel=_PANEL),
]
