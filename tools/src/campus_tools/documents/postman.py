"""The collection for Postman (format 2.1)."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, Final

from campus_tools.documents.postman_journey import VARIABLES, journey, script
from campus_tools.documents.requests_shown import Parameter, Request
from contracts.demo import USERS

_SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_VARIABLES: Final = (
    ("baseUrl", "http://localhost:8080"),
    ("email", USERS[0].email),
    *((name, "") for name in ("password", "code", "accessToken", "refreshToken", "serviceRoleKey")),
    *VARIABLES,
)
REFERENCE: Final = "Reference"
# These end the session, change the account, or stream without an end: a run of the reference leaves them out.
SINGLE: Final = "One by one"
_SINGLE_NAMES: Final = frozenset(
    {
        "auth.logout",
        "auth.logoutAll",
        "auth.endSession",
        "auth.changePassword",
        "auth.resetPassword",
        "profiles.requestErasure",
        "notifications.stream",
    }
)
_KEEP_TOKEN: Final = """
const body = pm.response.json();
for (const name of ["accessToken", "refreshToken"])
  if (body.data && body.data[name]) pm.collectionVariables.set(name, body.data[name]);
"""
_SESSION_HOLDS: Final = """
const token = pm.variables.get("accessToken");
if (token && pm.request.headers.get("Authorization") === `Bearer ${token}`)
  pm.test("The access token is valid", () => pm.expect(pm.response.code).not.to.equal(401));
pm.test("The server does not fail", () => pm.expect(pm.response.code).to.be.below(500));
"""


def collection(requests: Iterable[Request]) -> dict[str, Any]:
    """Return the collection: the journey; every operation in a folder for each tag; and those that a run leaves out.

    A login stores the token; requests with an idempotency key generate a new one.
    """
    parts: dict[bool, list[Request]] = {False: [], True: []}
    for request in requests:
        parts[request.name in _SINGLE_NAMES].append(request)
    return {
        "info": {
            "name": "Campus Marketplace API",
            "description": f"`{REFERENCE}`: set `baseUrl`, `email` and `password`, send `auth / Log in`, and every "
            "other request "
            "carries the token. Who has a second factor sets `code` and sends `auth / Verify`. "
            f"`{SINGLE}` has the requests that end the session, change the account or stream. "
            "The demo accounts' password is `DEMO_PASSWORD` in `.state/secrets.env`.",
            "schema": _SCHEMA,
        },
        "variable": [{"key": key, "value": value, "type": "string"} for key, value in _VARIABLES],
        "auth": _bearer("accessToken"),
        "item": [
            journey(),
            {"name": REFERENCE, "event": [script("test", _SESSION_HOLDS)], "item": _folders(parts[False])},
            {"name": SINGLE, "item": _folders(parts[True])},
        ],
    }


def _folders(requests: Iterable[Request]) -> list[dict[str, Any]]:
    return [
        {"name": folder, "item": [_item(request) for request in inner]}
        for folder, inner in groupby(requests, key=lambda request: request.folder)
    ]


def _item(request: Request) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": request.title, "request": _request(request), "response": []}
    if request.signs_in:
        shown["event"] = [script("test", _KEEP_TOKEN)]
    return shown


def _request(request: Request) -> dict[str, Any]:
    headers = [_pair(parameter) for parameter in request.in_headers]
    if request.key is not None:
        headers.append({"key": "Idempotency-Key", "value": "{{$guid}}", "description": "New for each request."})
    shown: dict[str, Any] = {
        "method": request.method,
        "header": headers,
        "url": _url(request),
        "description": request.meaning,
        "auth": {"type": "noauth"} if request.secret is None else _bearer(request.secret),
    }
    if request.json_body is not None:
        headers.append({"key": "Content-Type", "value": "application/json"})
        shown["body"] = {"mode": "raw", "raw": request.json_body, "options": {"raw": {"language": "json"}}}
    elif request.has_file:
        shown["body"] = {"mode": "formdata", "formdata": [{"key": "file", "type": "file", "src": []}]}
    return shown


def _url(request: Request) -> dict[str, Any]:
    path = [f":{part[1:-1]}" if part.startswith("{") else part for part in request.path.strip("/").split("/")]
    url: dict[str, Any] = {"raw": "{{baseUrl}}/" + "/".join(path), "host": ["{{baseUrl}}"], "path": path}
    if request.in_query:
        url["query"] = [_pair(parameter) for parameter in request.in_query]
    if request.in_path:
        url["variable"] = [{"key": parameter.name, "value": parameter.value} for parameter in request.in_path]
    return url


def _pair(parameter: Parameter) -> Mapping[str, Any]:
    shown: dict[str, Any] = {"key": parameter.name, "value": parameter.value}
    if not parameter.is_required:
        shown["disabled"] = True
    if parameter.meaning:
        shown["description"] = parameter.meaning
    return shown


def _bearer(variable: str) -> dict[str, Any]:
    return {"type": "bearer", "bearer": [{"key": "token", "value": "{{" + variable + "}}", "type": "string"}]}
