"""What every page must be: sound HTML that loads nothing from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "img", "hr", "input", "source", "col"}


class Structure(HTMLParser):
    """Notes whether elements close in order, ids are unique, and figures and headings say what they are."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.unlabelled: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if str(found.get("href", "")).startswith("#"):
            self.targets.append(str(found["href"])[1:])
        if tag == "svg" and not (found.get("role") == "img" and found.get("aria-labelledby")):
            self.unlabelled.append(tag)
        if tag == "th" and "scope" not in found:
            self.unlabelled.append(tag)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_structure(page: str) -> None:
    """Assert that ``page`` is sound HTML."""
    structure = Structure()
    structure.feed(page)
    assert structure.open == []
    assert len(structure.ids) == len(set(structure.ids))
    assert set(structure.targets) <= set(structure.ids)
    assert structure.unlabelled == []


def check_page(page: str) -> None:
    """Assert that ``page`` is sound HTML, loads nothing, and shows no number that is none."""
    check_structure(page)
    addresses = re.findall(r'(?:src|href|poster|action)="([^"]*)"', page)
    assert all(not re.match(r"(?:[a-z]+:|//|/)", address) for address in addresses)
    assert "@import" not in page
    assert all(reference.startswith("#") for reference in re.findall(r"url\(([^)]*)\)", page))
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "nan" not in text(page).lower().split()


def text(page: str) -> str:
    """Return the words of a page."""
    bare = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", bare)))
