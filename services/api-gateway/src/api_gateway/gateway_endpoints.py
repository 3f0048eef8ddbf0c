"""What the gateway answers itself: health, the documents of the API and of its events, the pages of the error codes. None is counted."""

import json
from collections.abc import Awaitable, Callable
from typing import Final, get_args

from api_gateway.call import Call
from api_gateway.load import Load
from api_gateway.problem_pages import problem_index, problem_page
from api_gateway.readiness import Readiness
from api_gateway.static_pages import StaticPage, page_file
from common.primitives.problems import Code, Unavailable, ValidationFailed, slug_of

Page = Callable[[Call], Awaitable[None]]

_JSON: Final = b"application/json"
_HTML: Final = b"text/html; charset=utf-8"
_CSS: Final = b"text/css; charset=utf-8"
_JAVASCRIPT: Final = b"text/javascript; charset=utf-8"
_MINUTE: Final = 60
_HOUR: Final = 3600
# Path, file of the folder `pages`, media type, seconds that a client may keep it.
_FILES: Final = (
    ("/openapi.json", "openapi.json", _JSON, _MINUTE),
    ("/asyncapi.json", "asyncapi.json", _JSON, _MINUTE),
    ("/events", "events.html", _HTML, _HOUR),
    ("/docs", "docs.html", _HTML, _HOUR),
    ("/docs/docs.css", "docs.css", _CSS, _HOUR),
    ("/docs/docs.js", "docs.js", _JAVASCRIPT, _HOUR),
    ("/docs/swagger-ui.css", "swagger-ui/swagger-ui.css", _CSS, _HOUR),
    ("/docs/swagger-ui-bundle.js", "swagger-ui/swagger-ui-bundle.js", _JAVASCRIPT, _HOUR),
)


# The base address that the generated documents name.
DOCUMENTED_BASE_URL: Final = "http://localhost:8080"


class GatewayEndpoints:
    """The gateway's own paths. A gateway that drains is not ready, whatever it reaches."""

    def __init__(self, readiness: Readiness, load: Load, base_url: str) -> None:
        self._readiness_checks, self._load = readiness, load
        self._pages: dict[str, Page] = {
            "/health/liveness": self._liveness,
            "/health/readiness": self._readiness,
            "/errors": _html(problem_index()),
        }
        for path, name, media_type, seconds_kept in _FILES:
            body = page_file(name)
            if media_type == _JSON:
                body = _served_at(base_url, body)
            self._pages[path] = StaticPage(body, media_type, seconds_kept=seconds_kept, is_page=media_type == _HTML)
        for code in get_args(Code):
            self._pages[f"/errors/{slug_of(code)}"] = _html(problem_page(code))

    def find(self, path: str) -> Page | None:
        page = self._pages.get(path)
        return None if page is None else _read_only(page)

    async def _liveness(self, call: Call) -> None:
        call.is_private = True
        await call.succeed({"status": "alive"})

    async def _readiness(self, call: Call) -> None:
        call.is_private = True
        if self._load.is_draining:
            raise Unavailable("Not ready: draining.")
        report = await self._readiness_checks.report(call.now)
        if report.missing:
            raise Unavailable(f"Not ready: {', '.join(report.missing)}.")
        await call.succeed(report.shown())


def _read_only(page: Page) -> Page:
    async def answer(call: Call) -> None:
        if call.method not in ("GET", "HEAD"):
            raise ValidationFailed("This path does not know this method.", status=405, headers={"Allow": "GET, HEAD"})
        await page(call)

    return answer


def _served_at(base_url: str, document: bytes) -> bytes:
    """A generated document with the address under which this gateway is known, as JSON writes it."""
    return document.replace(DOCUMENTED_BASE_URL.encode(), json.dumps(base_url)[1:-1].encode())


def _html(text: str) -> Page:
    return StaticPage(text.encode(), _HTML, seconds_kept=_HOUR, is_page=True)
