"""Paths of the generated documents: next to the code that serves them, or in `clients/`, which git ignores."""

import json
from pathlib import Path
from typing import Any, Final

from campus_tools.documents import (
    arazzo,
    asyncapi,
    choices,
    endpoint_lines,
    events_page,
    lifecycles_page,
    openapi,
    postman,
    python_client,
    python_events,
)
from campus_tools.documents.requests_shown import requests_of
from operations.database_settings import container_file

ROOT: Final = Path(__file__).parents[4]
ENDPOINTS: Final = Path("libs/common/src/contracts/endpoints.txt")
DATABASE_CONTAINER: Final = Path("deploy/compose/postgresql.conf")
CHOICES: Final = Path("libs/common/src/contracts/choices.json")
PAGES: Final = Path("services/api-gateway/src/api_gateway/pages")
# The folder also holds the client's hand-written modules.
PYTHON_CLIENT: Final = Path("clients/python/src/campus_client")
POSTMAN: Final = Path("clients/postman/campus-marketplace.postman_collection.json")
# Objects are broken over lines to this depth: one operation, schema or message a line, so that a diff names what
# changed.
_DEPTH: Final = 3


def served_documents() -> dict[Path, str]:
    """Return what gateway, console and campusctl read, the served documents, and the settings of the database's
    container, by their path below the root; committed, because images and containers are built from them.
    """
    reference = openapi.document()
    return {
        ENDPOINTS: endpoint_lines.text(reference),
        CHOICES: as_lines(choices.choices(reference)),
        DATABASE_CONTAINER: container_file(),
        PAGES / "openapi.json": as_lines(reference),
        PAGES / "arazzo.json": as_lines(arazzo.document(reference)),
        PAGES / "asyncapi.json": as_lines(asyncapi.document()),
        PAGES / "events.html": events_page.page(),
        PAGES / "lifecycles.html": lifecycles_page.page(),
    }


def clients() -> dict[Path, str]:
    """Return the files generated from the committed documents, by path; never committed."""
    reference = json.loads((ROOT / PAGES / "openapi.json").read_text())
    events = json.loads((ROOT / PAGES / "asyncapi.json").read_text())
    return {
        POSTMAN: json.dumps(postman.collection(list(requests_of(reference))), indent=1, ensure_ascii=False) + "\n",
        PYTHON_CLIENT / "public_events.py": python_client.formatted(python_events.source(events)),
        **{PYTHON_CLIENT / name: text for name, text in python_client.files(reference).items()},
    }


def as_lines(document: Any) -> str:
    """JSON with a line for each operation, schema and message."""
    return _lines(document, 0) + "\n"


def _lines(value: Any, depth: int) -> str:
    if depth == _DEPTH or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    members = (f"{' ' * (depth + 1)}{json.dumps(name)}: {_lines(inner, depth + 1)}" for name, inner in value.items())
    return "{\n" + ",\n".join(members) + "\n" + " " * depth + "}"
