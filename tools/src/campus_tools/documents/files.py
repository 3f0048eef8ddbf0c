"""Where each generated document lies in the repository."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from campus_tools.documents import asyncapi, bruno, events_page, openapi, postman, python_client
from campus_tools.documents.requests_shown import requests_of

ROOT: Final = Path(__file__).parents[4]
PAGES: Final = Path("services/api-gateway/src/api_gateway/pages")
# Folders in which every file is ours: what a generator does not name any more goes.
_POSTMAN: Final = Path("clients/postman")
_BRUNO: Final = Path("clients/bruno")
_WHOLE_FOLDERS: Final = (_POSTMAN, _BRUNO)
# Beside the generated modules stands what is written by hand.
PYTHON_CLIENT: Final = Path("clients/python/src/campus_client")


def documents() -> dict[Path, str]:
    """Every document by its path below the root."""
    reference = openapi.document()
    requests = list(requests_of(reference))
    return {
        PAGES / "openapi.json": as_json(reference),
        PAGES / "asyncapi.json": as_json(asyncapi.document()),
        PAGES / "events.html": events_page.page(),
        _POSTMAN / "campus-marketplace.postman_collection.json": as_json(postman.collection(requests)),
        **{_BRUNO / name: text for name, text in bruno.files(requests).items()},
        **{PYTHON_CLIENT / name: text for name, text in python_client.files(reference).items()},
    }


def left_over(made: Iterable[Path]) -> list[Path]:
    """Files of our folders that nothing makes any more."""
    known = set(made)
    there = [
        path.relative_to(ROOT) for folder in _WHOLE_FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()
    ]
    return sorted(path for path in there if path not in known)


def as_json(document: Any) -> str:
    """Indented, so that a change of the code shows as a change of few lines."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
