"""The gateway's own endpoints: front page, health, API and event documents, guides, pages of the error codes. None is
counted.
"""

import json
from typing import Final, get_args
from urllib.parse import urlsplit

from api_gateway.call import Call
from api_gateway.frame import page as framed
from api_gateway.front_page import front_page
from api_gateway.guides import Guides, Page
from api_gateway.load import Load
from api_gateway.problem_pages import problem_index, problem_page
from api_gateway.readiness import Readiness
from api_gateway.static_pages import StaticPage, page_file, served_at
from common.primitives.problems import Code, Unavailable, ValidationFailed, slug_of
from common.web.health import Health

_JSON: Final = b"application/json"
_HTML: Final = b"text/html; charset=utf-8"
_CSS: Final = b"text/css; charset=utf-8"
_JAVASCRIPT: Final = b"text/javascript; charset=utf-8"
_MINUTE: Final = 60
_HOUR: Final = 3600
# Path, file in the folder `pages`, media type, seconds of client caching.
_FILES: Final = (
    ("/openapi.json", "openapi.json", _JSON, _MINUTE),
    ("/arazzo.json", "arazzo.json", _JSON, _MINUTE),
    ("/asyncapi.json", "asyncapi.json", _JSON, _MINUTE),
    ("/events", "events.html", _HTML, _HOUR),
    ("/lifecycles", "lifecycles.html", _HTML, _HOUR),
    ("/docs/docs.css", "docs.css", _CSS, _HOUR),
    ("/docs/search.js", "search.js", _JAVASCRIPT, _HOUR),
    ("/docs/copy.js", "copy.js", _JAVASCRIPT, _HOUR),
    ("/docs/docs.js", "docs.js", _JAVASCRIPT, _HOUR),
    ("/docs/swagger-ui.css", "swagger-ui/swagger-ui.css", _CSS, _HOUR),
    ("/docs/swagger-ui-bundle.js", "swagger-ui/swagger-ui-bundle.js", _JAVASCRIPT, _HOUR),
)
_REFERENCE: Final = framed(
    "API reference",
    '<div id="reference"><noscript><p>A script shows the reference. The document itself is <a href="/openapi.json">'
    "openapi.json</a>.</p></noscript></div>",
    current="/docs",
    styles=("/docs/swagger-ui.css",),
    scripts=("/docs/swagger-ui-bundle.js", "/docs/docs.js"),
)
_UNKNOWN: Final = StaticPage(
    framed(
        "Page not found",
        '<h1>Page not found</h1><p>There is no page at this address. The <a href="/">front page</a> lists what this '
        'server has, and <a href="/errors">Errors</a> explains each error code.</p>',
        current="",
    ).encode(),
    _HTML,
    max_age_seconds=0,
    is_page=True,
    status=404,
)


class GatewayEndpoints:
    """The gateway's own paths. A draining gateway is not ready."""

    def __init__(
        self, readiness: Readiness, load: Load, base_url: str, guides: Guides, events_address: str = ""
    ) -> None:
        self._readiness_checks, self._load, self._guides = readiness, load, guides
        self._pages: dict[str, Page] = {
            "/": self._front,
            "/health/liveness": self._liveness,
            "/health/readiness": self._readiness,
            "/docs": _html(_REFERENCE),
            "/errors": _html(problem_index()),
        }
        for path, name, media_type, max_age_seconds in _FILES:
            body = page_file(name)
            if media_type == _JSON:
                body = served_at(base_url, body)
            if path == "/asyncapi.json" and events_address:
                body = _with_broker(events_address, body)
            self._pages[path] = StaticPage(
                body, media_type, max_age_seconds=max_age_seconds, is_page=media_type == _HTML
            )
        for code in get_args(Code):
            self._pages[f"/errors/{slug_of(code)}"] = _html(problem_page(code))

    def find(self, path: str, accept: bytes | None) -> Page | None:
        """Return the page of a path; for an unknown one, which is no path of the API, a browser gets a page too."""
        page = self._pages.get(path) or self._guides.find(path)
        if page is None and accept is not None and b"text/html" in accept and not path.startswith("/api/"):
            page = _UNKNOWN
        return None if page is None else _read_only(page)

    async def _front(self, call: Call) -> None:
        call.is_private = True
        report = await self._readiness_checks.report(call.now)
        status = "stopping" if self._load.is_draining else "ready" if report.database else "not ready"
        await _html(front_page({"gateway": status, **report.services}))(call)

    async def _liveness(self, call: Call) -> None:
        call.is_private = True
        await call.respond_ok(Health(status="alive"))

    async def _readiness(self, call: Call) -> None:
        call.is_private = True
        if self._load.is_draining:
            raise Unavailable("Not ready: draining.")
        report = await self._readiness_checks.report(call.now)
        if report.missing:
            raise Unavailable(f"Not ready: {', '.join(report.missing)}.")
        await call.respond_ok(report.response())


def _read_only(page: Page) -> Page:
    async def response(call: Call) -> None:
        if call.method not in ("GET", "HEAD"):
            raise ValidationFailed(
                "This path does not support this method.", status=405, headers={"Allow": "GET, HEAD"}
            )
        await page(call)

    return response


def _with_broker(events_address: str, document: bytes) -> bytes:
    """Replace the example address of the broker in the AsyncAPI document."""
    parts, changed = urlsplit(events_address), json.loads(document)
    broker = changed["servers"]["broker"]
    broker["protocol"] = parts.scheme
    broker["variables"]["broker"]["default"] = parts.netloc
    return json.dumps(changed, ensure_ascii=False, separators=(",", ":")).encode()


def _html(text: str) -> Page:
    return StaticPage(text.encode(), _HTML, max_age_seconds=_HOUR, is_page=True)
