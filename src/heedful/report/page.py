"""Renders a page from its template; everything that is not a figure of ours is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from heedful.report import words
from heedful.report.published import CITATION
from heedful.report.svg import diverging, ink_on

_FIGURE = re.compile(r'<figure[^>]*data-figure="([\w-]+)"[^>]*>\s*(<svg.*?</svg>)', re.DOTALL)
_INTERVAL = re.compile(r"\[[^\[\]]*\]|\d %")
_MARKED = re.compile(r"\*\*(.+?)\*\*")


def render(context: Mapping[str, Any], template: str = "page.html.j2") -> str:
    """Return the page as HTML without references to anything outside its folder.

    Args:
        context: The names that the template uses; ``name`` is on every page.
        template: A template that extends ``layout.html.j2``.
    """
    return _environment().get_template(template).render(**context)


def figures(page: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each figure of ``page`` that is worth a file of its own."""
    yield from _FIGURE.findall(page)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("heedful.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "fdr": words.fdr,
        "fdr_interval": words.fdr_interval,
        "percent": words.percent,
        "percent_interval": words.percent_interval,
        "order": words.order,
        "listed": words.listed,
        "marked": _marked,
        "plain": words.plain,
    }
    environment.globals |= {
        "style": Markup(files("heedful.report").joinpath("templates", "style.css").read_text("utf-8")),
        "standing": words.standing,
        "citation": CITATION,
        "tint": _tint,
    }
    return environment


def _marked(text: str) -> Markup:
    """Return ``text`` escaped, with ``**x**`` as strong."""
    unbroken = _INTERVAL.sub(lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    return Markup(_MARKED.sub(r"<strong>\1</strong>", str(escape(unbroken))))  # escaped before the marks


def _tint(value: float | None) -> Markup:
    """Return the style of a table cell that shows an FDR."""
    if value is None:
        return Markup("")
    fill = diverging(value)
    return Markup(f"background:{fill};color:{ink_on(fill)}")  # two colours of ours
