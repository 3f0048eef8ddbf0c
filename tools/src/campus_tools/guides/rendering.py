"""Markdown to HTML: headings with anchors, links inside the site, highlighted code."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import PurePosixPath
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

_NOT_IN_ANCHORS: Final = re.compile(r"[^\w\- ]")
_MARKDOWN_LINK: Final = re.compile(r"\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]+)\)")
_PLACE: Final = re.compile(r"^(?P<path>[^#]*)(?:#(?P<anchor>.*))?$")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text below it, without markup. `anchor` is empty for the part above the second heading."""

    anchor: str
    heading: str
    text: str


@dataclass(slots=True)
class Link:
    """A link to another file of the repository: its path below docs/, and the anchor."""

    path: str
    anchor: str


@dataclass(slots=True)
class RenderedPage:
    """A page: its title (the first heading), its HTML, its sections, and its links to check."""

    title: str
    html: str
    sections: Sequence[Section]
    links: list[Link] = field(default_factory=list)

    @property
    def anchors(self) -> set[str]:
        return {section.anchor for section in self.sections}


AddressOf = Callable[[str], str | None]
"""Return the address of a file below docs/ on the site, or None when the site does not hold it."""


def parser() -> MarkdownIt:
    """Return the parser of the documents: CommonMark with tables, without raw HTML."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def render_page(source: str, path: str, address_of: AddressOf) -> RenderedPage:
    """Render a document. `path` is its path below docs/, for its relative links."""
    tokens = parser().parse(source)
    sections, links = _sections(tokens), list[Link]()
    for token in tokens:
        if token.type in ("th_open", "td_open") and token.attrs.pop("style", "") == "text-align:right":
            # The content policy of the pages allows no inline style.
            token.attrSet("class", "right")
        opened: Token | None = None
        for child in token.children or ():
            if child.type == "link_open":
                _place_link(child, path, address_of, links)
                opened = child
            elif child.type == "link_close" and opened is not None:
                child.tag = opened.tag
    renderer = parser()
    renderer.add_render_rule("fence", _fence)
    renderer.add_render_rule("code_block", _fence)
    renderer.add_render_rule("table_open", _open_table)
    renderer.add_render_rule("table_close", _close_table)
    html = renderer.renderer.render(tokens, renderer.options, {})
    return RenderedPage(sections[0].heading if sections else path, html, sections, links)


def markdown_of(source: str, path: str, address_of: AddressOf) -> str:
    """Return the document as Markdown for programs: links lead to Markdown pages, or give their text alone."""

    def place(link: re.Match[str]) -> str:
        file, anchor = _file_of(link["target"], path)
        address = address_of(file) if file else None
        if file is None:
            return link[0]
        return link["text"] if address is None else f"[{link['text']}]({address}.md{f'#{anchor}' if anchor else ''})"

    return _MARKDOWN_LINK.sub(place, source)


def _sections(tokens: Sequence[Token]) -> list[Section]:
    """Give each heading its anchor, as GitHub does, and collect the text below it."""
    found: list[tuple[str, str, list[str]]] = []
    used: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = _plain(tokens[number + 1])
            anchor = _anchor_of(heading, used)
            token.attrSet("id", anchor)
            found.append((anchor, heading, []))
        elif token.type == "inline" and tokens[number - 1].type != "heading_open" and found:
            found[-1][2].append(_plain(token))
    return [Section(anchor, heading, " ".join(texts)) for anchor, heading, texts in found]


def _plain(token: Token) -> str:
    return "".join(
        child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else ""
        for child in token.children or ()
    )


def _anchor_of(heading: str, used: dict[str, int]) -> str:
    anchor = _NOT_IN_ANCHORS.sub("", heading.lower()).strip().replace(" ", "-")
    used[anchor] = used.get(anchor, -1) + 1
    return f"{anchor}-{used[anchor]}" if used[anchor] else anchor


def _place_link(token: Token, path: str, address_of: AddressOf, links: list[Link]) -> None:
    """Point a relative link at its page. A file that the site does not hold is named, not linked."""
    file, anchor = _file_of(str(token.attrs["href"]), path)
    if file is None:
        return
    links.append(Link(file, anchor))
    address = address_of(file)
    if address is None:
        token.tag = "span"
        token.attrs = {"title": f"In the repository: {posixpath.normpath(f'docs/{file}')}"}
    else:
        token.attrs["href"] = address + (f"#{anchor}" if anchor else "")


def _file_of(target: str, path: str) -> tuple[str | None, str]:
    """Return the file below docs/ and the anchor of a link on the page `path`; None for a link to elsewhere."""
    if "://" in target or target.startswith(("/", "mailto:")):
        return None, ""
    match = _PLACE.match(target)
    assert match is not None  # the pattern accepts every text
    file = posixpath.normpath(PurePosixPath(path).parent / match["path"]) if match["path"] else path
    return file, match["anchor"] or ""


# Spans with short class names; the style sheet of the frame has their colors.
_CODE: Final = HtmlFormatter(nowrap=True, classprefix="c-")


_LANGUAGES: Final = {"python": "Python", "ts": "TypeScript"}
"""The label of a block that shows a step again in another language than curl's."""


def _fence(_renderer: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Mapping[str, Any]) -> str:
    token = tokens[index]
    words = token.info.split()
    language = words[0] if words else ""
    code = highlight(token.content, get_lexer_by_name(language), _CODE) if language else escape(token.content)
    label = " ".join(words[1:]) or _LANGUAGES.get(language, "")
    name = f'<p class="file">{escape(label)}</p>' if label else ""
    # A block that scrolls must be reachable by keyboard.
    return f'{name}<pre tabindex="0"><code>{code}</code></pre>\n'


def _open_table(*_: Any) -> str:
    return '<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table>\n'


def _close_table(*_: Any) -> str:
    return "</table></div>\n"
