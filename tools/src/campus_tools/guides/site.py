"""The pages of the site, their order, and the build."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from api_gateway.frame import DOCUMENTED_BASE_URL
from api_gateway.frame import page as framed
from campus_tools.guides.rendering import RenderedPage, markdown_of, render_page

ROOT: Final = Path(__file__).parents[4]
DOCS: Final = ROOT / "docs"
SITE: Final = ROOT / "services/api-gateway/src/api_gateway/pages/guides"
TOOL_DOCUMENTATION: Final = ROOT / "services/notifications/src/notifications/assistant/documentation.json"
OPENAPI: Final = SITE.parent / "openapi.json"
_ASYNCAPI: Final = SITE.parent / "asyncapi.json"
PREFIX: Final = "/guides"

# The guides in their order. The folders below it are sorted by name. Runbooks, decisions and pages for contributors
# stay in the repository: the gateway is public.
GUIDES: Final = (
    "README",
    "quickstart",
    "sessions",
    "orders",
    "work-as-a-team",
    "uploads",
    "live-updates",
    "push",
    "errors",
    "pagination",
    "sandbox",
    "webhooks",
    "api-keys",
    "subscribing",
    "going-live",
    "operating",
)
# The release notes of the API, from the root of the repository.
CHANGELOG: Final = "../CHANGELOG.md"
_FOLDERS: Final = (("Contract", "contract"), ("Tables", "reference"))
_HEAD_OF_THE_LIST: Final = f"""# Campus Marketplace

> The API of a marketplace for students: buyers pay, the money waits in escrow, a delivery PIN proves the hand-over, and
> the vendor is paid out to a bank account. Amounts are integers in kobo (`...Minor`); errors are RFC 9457 problems.

## API

- [OpenAPI document]({DOCUMENTED_BASE_URL}/openapi.json): every operation with its schemas, errors and permissions.
- [AsyncAPI document]({DOCUMENTED_BASE_URL}/asyncapi.json): every event on the broker and in webhooks.
- [Arazzo document]({DOCUMENTED_BASE_URL}/arazzo.json): a purchase from sign-up to payout, step by step.
- [Product feed]({DOCUMENTED_BASE_URL}/api/products/feed): the whole catalog as JSON Lines, with an ETag.
- [Tools]({DOCUMENTED_BASE_URL}/mcp): products, vendors, help and a user's own orders by the Model Context Protocol."""
# Enough of a section to find it by its words and to show a line of it.
_TEXT_CHARACTERS_MAX: Final = 600


class BrokenLink(Exception):
    """Documents link to files or headings that do not exist; all of them are named."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A document of the site: its file below docs/, its address, what was rendered of it, and its Markdown."""

    file: str
    address: str
    rendered: RenderedPage
    markdown: str


def build_site(target: Path) -> int:
    """Write the site to a folder, in place of its former content. Return the number of pages."""
    chapters = read_chapters()
    pages = pages_of(chapters)
    target.parent.mkdir(parents=True, exist_ok=True)
    # A gateway may be serving the folder: it is replaced when everything is written, and only by other pages.
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=".guides-"))
    fresh.chmod(0o755)
    for page in pages:
        file = fresh / f"{page.address.removeprefix(PREFIX).strip('/') or 'index'}.html"
        file.parent.mkdir(exist_ok=True)
        file.write_text(_html(page, chapters))
        file.with_suffix(".md").write_text(page.markdown)
    (fresh / "llms.txt").write_text(list_for_programs(chapters))
    missing = (
        "<h1>No such page</h1><p>The guides have no page at this address. Choose one from the list, or search.</p>"
    )
    (fresh / "404.html").write_text(framed("No such page", missing, current=PREFIX, contents=_contents(chapters, "")))
    (fresh / "search.json").write_text(
        json.dumps(list(search_entries(pages)), ensure_ascii=False, separators=(",", ":"))
    )
    if _contents_of(fresh) == _contents_of(target):
        shutil.rmtree(fresh)
    else:
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    return len(pages)


def _contents_of(folder: Path) -> dict[Path, bytes]:
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def read_chapters() -> Sequence[tuple[str, Sequence[SitePage]]]:
    """Return the rendered pages by chapter, in the order of the list beside each page."""
    files = [("Guides", [*(f"guides/{name}.md" for name in GUIDES), CHANGELOG])]
    files += [
        (name, sorted(f"{folder}/{path.name}" for path in (DOCS / folder).glob("*.md"))) for name, folder in _FOLDERS
    ]
    addresses = {file: address_of(file) for _, group in files for file in group}
    return [(name, [_read_page(file, addresses) for file in _index_first(group)]) for name, group in files]


def address_of(file: str) -> str:
    """Return the address of a document: `/guides/errors`, `/guides/contract/02-errors`; a README is its folder's."""
    if file == CHANGELOG:
        return f"{PREFIX}/changelog"
    return f"{PREFIX}/{file.removeprefix('guides/').removesuffix('.md')}".removesuffix("README").rstrip("/")


def pages_of(chapters: Sequence[tuple[str, Sequence[SitePage]]]) -> list[SitePage]:
    """Return the pages of all chapters."""
    return [page for _, group in chapters for page in group]


def check_links(pages: Sequence[SitePage]) -> None:
    """Raise BrokenLink when a link leads to a missing file, or to a missing heading of a page."""
    by_file = {page.file: page for page in pages}
    broken = []
    for page in pages:
        for link in page.rendered.links:
            target = by_file.get(link.path)
            is_there = target is not None or (DOCS / link.path).exists()
            if not is_there or (target and link.anchor and link.anchor not in target.rendered.anchors):
                broken.append(f"{page.file} links to {link.path}{'#' if link.anchor else ''}{link.anchor}")
    if broken:
        raise BrokenLink("; ".join(broken))


def search_entries(pages: Sequence[SitePage]) -> Iterator[Mapping[str, str]]:
    """Yield what the search finds: each section of a page, operation, event and error code.

    Keys are short, because the file is loaded as a whole: u address, t title, p page, x text.
    """
    for page in pages:
        for section in page.rendered.sections:
            is_top = section is page.rendered.sections[0]
            yield {
                "u": page.address if is_top else f"{page.address}#{section.anchor}",
                "t": section.heading,
                "p": _part_of(page) if is_top else page.rendered.title,
                "x": section.text[:_TEXT_CHARACTERS_MAX],
            }
    document = json.loads(OPENAPI.read_text())
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            address = f"/docs#/{operation['tags'][0].replace(' ', '_')}/{operation['operationId']}"
            yield {"u": address, "t": f"{method.upper()} {path}", "p": "API reference", "x": operation["summary"]}
    for message in json.loads(_ASYNCAPI.read_text())["components"]["messages"].values():
        yield {"u": f"/events#{message['name']}", "t": message["name"], "p": "Events", "x": message["summary"]}
    for code in document["components"]["schemas"]["ProblemCode"]["enum"]:
        yield {"u": f"/errors/{code.lower().replace('_', '-')}", "t": code, "p": "Errors", "x": ""}


def _part_of(page: SitePage) -> str:
    return "Guides" if page.file == CHANGELOG else page.file.partition("/")[0].capitalize()


def _index_first(group: Sequence[str]) -> list[str]:
    return sorted(group, key=lambda file: not file.endswith("/README.md"))


def _read_page(file: str, addresses: Mapping[str, str]) -> SitePage:
    source = (DOCS / file).read_text()
    rendered = render_page(source, file, addresses.get)
    return SitePage(file, addresses[file], rendered, markdown_of(source, file, addresses.get))


def list_for_programs(chapters: Sequence[tuple[str, Sequence[SitePage]]]) -> str:
    """Return `/llms.txt` (llmstxt.org): what this is, and an address of Markdown for each page."""
    lines = [_HEAD_OF_THE_LIST]
    for name, group in chapters:
        lines.append(f"\n## {name}\n")
        lines += [
            f"- [{page.rendered.title}]({DOCUMENTED_BASE_URL}{page.address}.md): {_summary(page)}" for page in group
        ]
    return "\n".join(lines) + "\n"


def _summary(page: SitePage) -> str:
    """Return the first sentence, or the headings of a page that begins with one."""
    first, *others = page.rendered.sections
    return first.text.partition(". ")[0].rstrip(".:") or "; ".join(section.heading for section in others)


def _html(page: SitePage, chapters: Sequence[tuple[str, Sequence[SitePage]]]) -> str:
    return framed(
        page.rendered.title,
        page.rendered.html + _neighbours(page, chapters),
        current=page.address if page.file == CHANGELOG else PREFIX,
        contents=_contents(chapters, page.address),
        markdown=f"{page.address}.md",
    )


def _contents(chapters: Sequence[tuple[str, Sequence[SitePage]]], current: str) -> str:
    """Return the list of all pages: beside the main part, on a narrow screen below it."""
    lines = []
    for name, group in chapters:
        lines.append(f"<p>{escape(name)}</p><ul>")
        for page in group:
            marked = ' aria-current="page"' if page.address == current else ""
            lines.append(f'<li><a href="{page.address}"{marked}>{escape(page.rendered.title)}</a></li>')
        lines.append("</ul>")
    inner = "".join(lines)
    return f'<nav class="contents" id="pages" aria-label="Pages">{inner}</nav>\n'


def _neighbours(page: SitePage, chapters: Sequence[tuple[str, Sequence[SitePage]]]) -> str:
    """Links to the page before and the page after it in its chapter."""
    group = next(group for _, group in chapters if page in group)
    place = group.index(page)
    links = []
    if place > 0:
        links.append(
            f'<a rel="prev" href="{group[place - 1].address}">Previous: {escape(group[place - 1].rendered.title)}</a>'
        )
    if place + 1 < len(group):
        links.append(
            f'<a rel="next" href="{group[place + 1].address}">Next: {escape(group[place + 1].rendered.title)}</a>'
        )
    return f'<nav class="neighbours" aria-label="Neighbouring pages">{"".join(links)}</nav>' if links else ""
