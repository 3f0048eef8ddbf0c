"""The response with a document: a PDF or a page, by the Accept header.

A PDF takes 0.3 s of CPU, with a Chinese name 0.6 s. One thread renders, so that the event loop goes on meanwhile.
Its libraries need 40 MiB, so a process imports them with its first document.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from common.documents.document import PAPER_CELLS_MAX, Document, Paper
from common.documents.media_types import accepted_type
from common.primitives.problems import Unavailable, ValidationFailed
from common.web.endpoints import Responses

_Source = TypeVar("_Source")
_Rendered = TypeVar("_Rendered")

_PDF, _HTML = "application/pdf", "text/html"
_TYPES: Final = (_PDF, _HTML)
# With one thread the last of them waits for some seconds.
WAITING_MAX: Final = 8
# What OpenAPI shows of an endpoint that responds with a document, for `responses=`.
DOCUMENT_RESPONSES: Final[Responses] = {
    200: {
        "content": {
            _PDF: {"schema": {"type": "string", "format": "binary"}},
            _HTML: {"schema": {"type": "string"}},
        },
        "headers": {"X-Document-Number": {"schema": {"type": "string"}, "description": "The document's number."}},
    }
}


class DocumentRendererBusy(Unavailable):
    detail = "Too many documents are being rendered. Try again."


class PaperTooLong(ValidationFailed):
    detail = "The page is too long for a PDF. Narrow it by its filters, or take the CSV."


class DocumentRenderer:
    """Renders documents on a thread of its own; at most `waiting_max` requests wait for it."""

    def __init__(self, waiting_max: int = WAITING_MAX) -> None:
        self._under_way_max = 1 + waiting_max
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="documents")
        self._under_way = 0

    async def respond(self, request: Request, document: Document) -> Response:
        """Return the document in the media type that the client prefers. Raises NotAcceptable, DocumentRendererBusy."""
        accepted = accepted_type(request.headers.get("accept"), _TYPES)
        content, headers = await self._run(_render_pdf if accepted == _PDF else _render_html, document)
        suffix = "pdf" if accepted == _PDF else "html"
        headers |= {
            "X-Document-Number": document.number,
            "Content-Disposition": f'inline; filename="{document.file_name}.{suffix}"',
            "Cache-Control": "private, no-store",
            "Vary": "Accept",
        }
        return Response(content, headers=headers, media_type=accepted)

    async def respond_paper(self, paper: Paper, name: str) -> Response:
        """Return the paper as a PDF named `name`. Raises PaperTooLong, DocumentRendererBusy."""
        if paper.cells > PAPER_CELLS_MAX:
            raise PaperTooLong
        headers = {"Content-Disposition": f'inline; filename="{name}.pdf"', "Cache-Control": "private, no-store"}
        return Response(await self._run(_render_paper, paper), headers=headers, media_type=_PDF)

    async def _run(self, render: Callable[[_Source], _Rendered], source: _Source) -> _Rendered:
        if self._under_way >= self._under_way_max:
            raise DocumentRendererBusy
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, render, source)
        finally:
            self._under_way -= 1

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def _render_pdf(document: Document) -> tuple[bytes, dict[str, str]]:
    from common.documents.pdf_file import render_pdf

    return render_pdf(document), {}


def _render_paper(paper: Paper) -> bytes:
    from common.documents.pdf_file import render_paper

    return render_paper(paper)


def _render_html(document: Document) -> tuple[bytes, dict[str, str]]:
    from common.documents.html_page import POLICY, render_html

    return render_html(document), {"Content-Security-Policy": POLICY}
