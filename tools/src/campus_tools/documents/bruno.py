"""The folder for Bruno: one plain file for each request."""

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from campus_tools.documents.requests_shown import Parameter, Request
from contracts.demo import USERS

_COLLECTION: Final = {
    "version": "1",
    "name": "Campus Marketplace API",
    "type": "collection",
    "ignore": ["node_modules"],
}
_DRAWS_A_KEY: Final = """\
auth {
  mode: bearer
}

auth:bearer {
  token: {{accessToken}}
}

script:pre-request {
  const { v4 } = require("uuid");
  bru.setVar("idempotencyKey", v4());
}

docs {
  Choose the environment `local`, set `email` and `password`, send `auth / Log in`, and every other request carries the token.
  Who has a second factor sets `code` and sends `auth / Verify`. The demo accounts' password stands in `.state/secrets.env`.
  Every keyed request draws a new key.
}
"""
_ENVIRONMENT: Final = f"""\
vars {{
  baseUrl: http://localhost:8080
  email: {USERS[0].email}
}}
vars:secret [
  password,
  code,
  accessToken,
  refreshToken,
  serviceRoleKey
]
"""
_KEEPS_THE_TOKEN: Final = """\
script:post-response {
  for (const name of ["accessToken", "refreshToken"])
    if (res.body.data && res.body.data[name]) bru.setEnvVar(name, res.body.data[name]);
}
"""


def files(requests: Iterable[Request]) -> Mapping[str, str]:
    """Each file by its path below the folder."""
    made = {
        "bruno.json": json.dumps(_COLLECTION, indent=2) + "\n",
        "collection.bru": _DRAWS_A_KEY,
        "environments/local.bru": _ENVIRONMENT,
    }
    for number, request in enumerate(requests, start=1):
        made[str(PurePosixPath(request.folder) / f"{request.name}.bru")] = _file(request, number)
    return made


def _file(request: Request, number: int) -> str:
    path = "/".join(f":{part[1:-1]}" if part.startswith("{") else part for part in request.path.split("/"))
    body = "json" if request.json_body is not None else "multipartForm" if request.has_file else "none"
    auth = {"accessToken": "inherit", "serviceRoleKey": "bearer"}.get(request.secret or "", "none")
    asked = "&".join(f"{entry.name}={entry.value}" for entry in request.in_query if entry.is_required)
    blocks = [
        _block("meta", [f"name: {request.title}", "type: http", f"seq: {number}"]),
        _block(
            request.method.lower(),
            [f"url: {{{{baseUrl}}}}{path}{'?' if asked else ''}{asked}", f"body: {body}", f"auth: {auth}"],
        ),
    ]
    if request.in_query:
        blocks.append(_block("params:query", [_line(entry) for entry in request.in_query]))
    if request.in_path:
        blocks.append(_block("params:path", [f"{entry.name}: {entry.value}" for entry in request.in_path]))
    headers = [_line(entry) for entry in request.in_headers]
    if request.key is not None:
        headers.append("Idempotency-Key: {{idempotencyKey}}")
    if headers:
        blocks.append(_block("headers", headers))
    if auth == "bearer":
        blocks.append(_block("auth:bearer", ["token: {{serviceRoleKey}}"]))
    if request.json_body is not None:
        blocks.append(_block("body:json", request.json_body.splitlines()))
    elif request.has_file:
        blocks.append(_block("body:multipart-form", ["file: @file()"]))
    if request.signs_in:
        blocks.append(_KEEPS_THE_TOKEN)
    if request.meaning:
        blocks.append(_block("docs", request.meaning.splitlines()))
    return "\n".join(blocks)


def _block(name: str, lines: Iterable[str]) -> str:
    inner = "".join(f"  {line}\n" if line else "\n" for line in lines)
    return f"{name} {{\n{inner}}}\n"


def _line(parameter: Parameter) -> str:
    return f"{'' if parameter.is_required else '~'}{parameter.name}: {parameter.value}"
