"""The two models of a job: who writes the paraphrases, and who checks them."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.language.chat_models import ModelChoice, model_choice
from heedful.workflows.paraphrase.costs import Price


@dataclass(frozen=True)
class Models:
    """Who writes and who checks, and at what price.

    Attributes:
        generator: Writes.
        verifier: Checks, in conversations of its own.
        generator_price: For a million tokens.
        verifier_price: Likewise.
    """

    generator: ModelChoice
    verifier: ModelChoice
    generator_price: Price | None = None
    verifier_price: Price | None = None

    @property
    def independent(self) -> bool:
        """Return whether the two are different models."""
        sides = (self.generator, self.verifier)
        return len({(side.provider, side.model, side.base_url) for side in sides}) == 2


def models_named(
    model: str,
    base_url: str | None = None,
    api_key_env: str | None = None,
    verifier: str | None = None,
    verifier_base_url: str | None = None,
    verifier_api_key_env: str | None = None,
    price: Price | None = None,
    verifier_price: Price | None = None,
) -> Models:
    """Return the two models as a user names them.

    Without ``verifier`` the generator's model checks as well, in conversations of its own: that
    is cheaper to set up but blind to the model's own habits. A bare ``verifier`` is looked for
    where the generator is. A verifier that is the same model has the same price.

    Raises:
        UserError: A model has no address, or an address cannot be one.
    """
    generator = model_choice(model, base_url, api_key_env)
    if verifier is None and verifier_base_url is None:
        checker = generator
    else:
        prefix = (verifier or "").partition(":")[0]
        same_place = verifier_base_url is None and prefix not in ("openai", "gemini")
        checker = model_choice(
            verifier or model,
            base_url if same_place else verifier_base_url,
            verifier_api_key_env or (api_key_env if same_place else None),
        )
    if verifier_price is None and checker == generator:
        verifier_price = price
    return Models(generator, checker, price, verifier_price)
