"""What the gateway answers itself: health, the merged API reference, the pages of the error codes. None of it is counted."""

from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import Final, get_args

from api_gateway.call import Call
from api_gateway.headers import Headers, with_page_policy
from api_gateway.problem_pages import problem_page
from api_gateway.reference import Reference, ReferenceAway
from common.problems import Code, Unavailable, ValidationFailed, slug_of

Page = Callable[[Call], Awaitable[None]]
Check = Callable[[], Awaitable[bool]]

_HTML: Final = b"text/html; charset=utf-8"
_CSS: Final = b"text/css; charset=utf-8"
_JAVASCRIPT: Final = b"text/javascript; charset=utf-8"
_FOR_AN_HOUR: Final = b"public, max-age=3600"


class OwnPages:
    """The gateway's own paths. `checks` must all hold for readiness."""

    def __init__(self, reference: Reference, checks: Mapping[str, Check]) -> None:
        self._reference, self._checks = reference, checks
        self._pages: dict[str, Page] = {
            "/health/liveness": self._liveness,
            "/health/readiness": self._readiness,
            "/openapi.json": self._openapi,
            "/docs": _static("docs.html", _HTML),
            "/docs/docs.css": _static("docs.css", _CSS),
            "/docs/docs.js": _static("docs.js", _JAVASCRIPT),
        }
        for code in get_args(Code):
            self._pages[f"/errors/{slug_of(code)}"] = _content(problem_page(code).encode(), _HTML)

    def find(self, path: str) -> Page | None:
        page = self._pages.get(path)
        return None if page is None else _read_only(page)

    async def _liveness(self, call: Call) -> None:
        call.is_private = True
        await call.succeed({"status": "alive"})

    async def _readiness(self, call: Call) -> None:
        call.is_private = True
        failed = [name for name, check in self._checks.items() if not await check()]
        if failed:
            raise Unavailable(f"Not ready: {', '.join(sorted(failed))}.")
        await call.succeed({"status": "ready"})

    async def _openapi(self, call: Call) -> None:
        try:
            document = await self._reference.document()
        except ReferenceAway as error:
            raise Unavailable("The API reference cannot be put together for the moment.") from error
        await call.answer(200, [(b"content-type", b"application/json"), (b"cache-control", b"max-age=60")], document)


def _read_only(page: Page) -> Page:
    async def answer(call: Call) -> None:
        if call.method not in ("GET", "HEAD"):
            raise ValidationFailed("This path does not know this method.", status=405, headers={"Allow": "GET, HEAD"})
        await page(call)

    return answer


def _static(name: str, media_type: bytes) -> Page:
    return _content(resources.files("api_gateway").joinpath("pages", name).read_bytes(), media_type)


def _content(body: bytes, media_type: bytes) -> Page:
    async def answer(call: Call) -> None:
        call.extra = with_page_policy(call.extra)
        headers: Headers = [(b"content-type", media_type)]
        if not call.is_private:
            headers.append((b"cache-control", _FOR_AN_HOUR))
        await call.answer(200, headers, body)

    return answer
