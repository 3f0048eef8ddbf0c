"""The documentation site, built by `make guides` into this package and served under /guides; for programs each page
also as Markdown at its address + `.md`, and the list of them at /llms.txt.

**The guides are files** that `make guides` builds into `pages/guides`; git ignores them, and the image's build makes
its own. Without them `/guides` is a 404 that names the command.
"""

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

from api_gateway.call import Call
from api_gateway.frame import DOCUMENTED_BASE_URL
from api_gateway.static_pages import StaticPage, served_at
from common.primitives.problems import NotFound

Page = Callable[[Call], Awaitable[None]]

PREFIX: Final = "/guides"
# Without a dot in a folder's or page's name, no path leads out of the folder.
_PATH: Final = re.compile(r"/guides(?:/(?P<page>[a-z0-9-]+(?:/[a-z0-9-]+)*))?(?P<ending>/|\.md)?")
_LIST: Final = "/llms.txt"
_MARKDOWN: Final = b"text/markdown; charset=utf-8"
_INDEX: Final = "/guides/search.json"
# A minute: a corrected page is seen soon, and a reader of several pages loads none twice.
_MAX_AGE_SECONDS: Final = 60
# The pages that stay in memory; the site has about forty.
_PAGES_MAX: Final = 64


class GuidesNotBuilt(NotFound):
    """The site is missing from this installation."""

    def __init__(self) -> None:
        super().__init__(
            "The guides are not part of this installation. `make guides` builds them, and so do the images."
        )


class Guides:
    """The pages in a folder, each read at its first request and again after a change."""

    def __init__(self, folder: Path, base_url: str = DOCUMENTED_BASE_URL) -> None:
        self._folder, self._base_url = folder, base_url

    def find(self, path: str) -> Page | None:
        """Return the page of a path, the site's own page for an unknown one, or None for paths of others."""
        if path == _LIST:
            return self._file("llms.txt", b"text/plain; charset=utf-8") or _not_built
        if not path.startswith((f"{PREFIX}/", f"{PREFIX}.")) and path != PREFIX:
            return None
        if path == _INDEX:
            return self._file("search.json", b"application/json") or _not_built
        matched = _PATH.fullmatch(path)
        page = None
        if matched:
            name = matched["page"] or "index"
            page = self._file(f"{name}.md", _MARKDOWN) if matched["ending"] == ".md" else self._file(f"{name}.html")
        return page or self._file("404.html", status=404) or _not_built

    def _file(self, name: str, media_type: bytes = b"text/html; charset=utf-8", status: int = 200) -> Page | None:
        file = self._folder / name
        try:
            changed_at = file.stat().st_mtime_ns
        except OSError:
            return None
        return _loaded(file, changed_at, media_type, status, self._base_url)


def guides_folder() -> Path:
    """Return the folder of the built site."""
    return Path(str(resources.files("api_gateway"))) / "pages" / "guides"


@lru_cache(_PAGES_MAX)
def _loaded(file: Path, _changed_at: int, media_type: bytes, status: int, base_url: str) -> StaticPage:
    body, is_page = served_at(base_url, file.read_bytes()), media_type.startswith(b"text/html")
    return StaticPage(body, media_type, max_age_seconds=_MAX_AGE_SECONDS, is_page=is_page, status=status)


async def _not_built(_: Call) -> None:
    raise GuidesNotBuilt
