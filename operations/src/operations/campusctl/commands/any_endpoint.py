"""Call endpoints that have no command of their own."""

import json
from enum import StrEnum
from typing import Annotated, Any

import typer

from operations.campusctl.exits import MISUSED, Refused
from operations.campusctl.registering import Key, Operator, Yes, command
from operations.campusctl.showing import Output

_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"


class Method(StrEnum):
    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


def register(app: typer.Typer) -> None:
    command(
        app,
        "call",
        "campusctl call GET '/api/reconciliation-cases?status=open'",
        f'campusctl call POST /api/reconciliation-cases/{_ID}/close --body \'{{"evidence": "Letter of 3 May"}}\'',
    )(call)


def call(
    operator: Operator,
    method: Method,
    path: Annotated[str, typer.Argument(help="Path and query of the endpoint, starting with /api/.")],
    body: Annotated[str, typer.Option(metavar="JSON", help="Request body; put no secrets in it.")] = "{}",
    yes: Yes = False,
    key: Key = None,
) -> Output:
    """Call any endpoint of the public API with your token and print the response. Methods other than GET ask for
    confirmation.
    """
    if not path.startswith("/api/"):
        raise Refused(f"{path!r} is no endpoint of the public API.", "Paths start with /api/", MISUSED)
    given = _object(body)
    if method is not Method.GET:
        operator.confirm(f"{method} {path} {body}?", yes=yes)
    reply = operator.api.call(method, path, given, key)
    return Output(reply.data, meta=reply.meta, is_document=True)


def _object(body: str) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise Refused("--body is not a JSON object.", """As in --body '{"reason": "The bank was down"}'""", MISUSED)
    return given
