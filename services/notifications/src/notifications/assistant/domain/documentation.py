"""Sections of the guides, the contract and the tables: what `search_docs` finds (contract section 12.5)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

FOUND_MAX: Final = 5
# A query of more words is a text: its first words name the subject.
_WORDS_MAX: Final = 12
_WORD: Final = re.compile(r"\w+")
_GUIDES: Final = "/guides"


class _Entry(msgspec.Struct):
    """An entry of the site's search: address, title, page or chapter, text."""

    u: str
    t: str
    p: str
    x: str


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page. `address` is that of the page's Markdown."""

    title: str
    page: str
    address: str
    text: str


def read_sections(index: bytes, base_url: str) -> list[Section]:
    """Return the sections of the site's search index; operations, events and errors are not pages."""
    entries = msgspec.json.decode(index, type=list[_Entry])
    return [
        Section(entry.t, entry.p, f"{base_url}{entry.u.partition('#')[0]}.md", entry.x)
        for entry in entries
        if entry.u.startswith(_GUIDES)
    ]


def search_sections(sections: Sequence[Section], query: str) -> list[Section]:
    """Return at most five sections, those with most words of the query first, words in titles before words in texts."""
    words = list(dict.fromkeys(word for word in _WORD.findall(query.lower()) if len(word) > 1))[:_WORDS_MAX]
    scored = [(_score(section, words), -place) for place, section in enumerate(sections)]
    best = sorted((pair for pair in scored if pair[0] > (0, 0)), reverse=True)[:FOUND_MAX]
    return [sections[-place] for _, place in best]


def _score(section: Section, words: Sequence[str]) -> tuple[int, int]:
    places = [(3, section.title.lower()), (2, section.page.lower()), (1, section.text.lower())]
    weights = [max((weight for weight, text in places if word in text), default=0) for word in words]
    return sum(weight > 0 for weight in weights), sum(weights)
