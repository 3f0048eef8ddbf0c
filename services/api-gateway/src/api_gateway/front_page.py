"""The front page: what this server is, the present state of its services, and where to read on."""

from collections.abc import Mapping
from html import escape
from typing import Final

from api_gateway.frame import PARTS, page, prose, table

# Address, name and meaning of each document.
_FOR_PROGRAMS: Final = (
    ("/openapi.json", "OpenAPI", "The API reference."),
    ("/asyncapi.json", "AsyncAPI", "The events."),
    ("/arazzo.json", "Arazzo", "The journey of an order as a workflow."),
    ("/llms.txt", "llms.txt", "The list of pages; each is also Markdown at its address + `.md`."),
    ("/api/products/feed", "Product feed", "All public products as JSON Lines."),
    ("/health/readiness", "Readiness", "The table above."),
)


def front_page(statuses: Mapping[str, str]) -> str:
    """Return the page with the present status of the gateway and of each service."""
    ready = sum(status == "ready" for status in statuses.values())
    summary = "All parts are ready." if ready == len(statuses) else f"{ready} of {len(statuses)} parts are ready."
    rows = [(escape(name), escape(status.replace("_", " "))) for name, status in statuses.items()]
    return page(
        "Home",
        "<h1>Campus Marketplace</h1><p>The API of a student marketplace. Buyers purchase from student vendors, the "
        "money waits in escrow, a delivery PIN proves the hand-over, and the vendor is paid out to a bank account.</p>"
        f"<h2>Status</h2><p>{summary}</p>{table(('Part', 'Status'), rows)}"
        f"<h2>For people</h2>{_links(PARTS)}<h2>For programs</h2>{_links(_FOR_PROGRAMS)}",
        current="/",
    )


def _links(links: tuple[tuple[str, str, str], ...]) -> str:
    lines = "".join(f'<li><a href="{path}">{name}</a>: {prose(text)}</li>' for path, name, text in links)
    return f"<ul>{lines}</ul>"
