"""The same policy with different text encoders, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.report.findings import PolicyFinding
from heedful.report.material import EncoderResult, Training

FACT = "text encoder"
"""The fact of a training that names its text encoder."""

_KNOWN = {
    ("gru", "color,object"): "negative: the object is the last word",
    ("gru_reversed", "color,object"): "positive: read backwards, the color comes last",
}


def encoder_results(
    policies: Sequence[PolicyFinding], trainings: Sequence[Training]
) -> tuple[EncoderResult, ...]:
    """Return FDR by encoder, pair and training seed; empty unless encoders differ.

    Args:
        policies: Learned policies of a run.
        trainings: How they were trained; those that do not name their encoder are left out.
    """
    encoders = {(t.policy, t.training_seed): t.facts[FACT] for t in trainings if FACT in t.facts}
    if len(set(encoders.values())) < 2:
        return ()
    found = []
    for policy in policies:
        for pair in policy.pairs:
            for seed in pair.by_training_seed:
                encoder = encoders.get((policy.name, seed.training_seed))
                if encoder is None:
                    continue
                alone = len(pair.by_training_seed) == 1
                found.append(
                    EncoderResult(
                        encoder=encoder,
                        pair=pair.pair,
                        fdr=seed.fdr,
                        fdr_naive=pair.fdr_naive if alone else None,
                        in_distribution=seed.in_distribution,
                        neither=seed.neither,
                        same_object=pair.same_object if alone else None,
                        training_seed=seed.training_seed,
                        expected=_KNOWN.get((encoder, pair.pair), ""),
                    )
                )
    return tuple(sorted(found, key=lambda e: e.pair))
