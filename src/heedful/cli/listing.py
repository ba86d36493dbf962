"""``heedful list``: everything that a run can name."""

from __future__ import annotations

from typing import Any

from heedful.cli.options import Json
from heedful.cli.output import print_json, print_table

VOCABULARIES = ("tabletop",)


def list_registered(as_json: Json = False) -> None:
    """List the worlds, policies, suites and judges, the factors and their pairs."""
    from heedful.spec.plugins import registered

    plugins: dict[str, dict[str, str]] = {
        "worlds": {name: point.value for name, point in registered("heedful.worlds").items()},
        "policies": {name: point.value for name, point in registered("heedful.policies").items()},
        "suites": {name: point.value for name, point in registered("heedful.suites").items()},
        "judges": {name: point.value for name, point in registered("heedful.judges").items()},
    }
    vocabularies = {name: _vocabulary(name) for name in VOCABULARIES}
    if as_json:
        print_json({**plugins, "vocabularies": vocabularies})
        return
    for group, points in plugins.items():
        print_table(group.capitalize(), ("name", "factory"), sorted(points.items()))
    for name, content in vocabularies.items():
        print_table(
            f"Factors of {name}: {content['template']}",
            ("factor", "kind", "values"),
            [(f, of["kind"], ", ".join(of["values"])) for f, of in content["factors"].items()],
        )
        print_table(f"Pairs of {name}", ("pair", "kind"), content["pairs"].items())


def _vocabulary(name: str) -> dict[str, Any]:
    from heedful.spec.vocabulary import load_vocabulary

    vocabulary = load_vocabulary(name)
    grammar = vocabulary.grammar
    return {
        "template": grammar.template,
        "factors": {f.name: {"kind": f.kind, "values": list(f.values)} for f in grammar.factors},
        "pairs": {b.name: b.kind.replace("_", " against ") for b in vocabulary.bindings},
    }
