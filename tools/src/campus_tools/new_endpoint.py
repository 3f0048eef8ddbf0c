"""Write the first form of an endpoint: `GET /api/<nouns>/:id` with its test, query, response and route.

python -m campus_tools.new_endpoint payouts payout-note payout_requests   # the service, the noun, the table of its rows

A context of notifications is named as `notifications.support`.
"""

import re
import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final

from campus_tools.documents.files import ROOT
from campus_tools.documents.python_client import formatted
from campus_tools.endpoints import SERVICES_WITH_ENDPOINTS

# A context of notifications that has a module for each noun takes the place of the service.
_PLACES: Final = (
    *(service for service in SERVICES_WITH_ENDPOINTS if service != "notifications"),
    "notifications.deliveries",
    "notifications.support",
)
# A test's way to the header of a signed-in user, where the fixture `app` is not the service itself.
_SIGN_IN: Final = {
    "identity": 'await app.load_demo()\n    token = (await app.demo_log_in("BUYER"))["accessToken"]\n'
    '    caller = {"Authorization": f"Bearer {token}"}',
}
_APPS: Final = {"identity": "IdentityApp", "payments": "PaymentsApp"}

_TEST: Final = '''\
"""`GET $path`."""

from uuid import uuid4

import httpx

$import_app


async def test_an_unknown_${name}_is_absent(app: $app, client: httpx.AsyncClient) -> None:
    $sign_in
    path = f"$collection/{uuid4()}"
    assert (await client.get(path)).status_code == 401
    assert (await client.get(path, headers=caller)).status_code == 404
'''
_RESPONSE: Final = '''\
"""Responses of $plain."""

from uuid import UUID

from common.web.response_models import ResponseModel, Timestamp


class $model(ResponseModel):
    id: UUID
    created_at: Timestamp
'''
_QUERY: Final = '''\
"""Reads of $plain."""

from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from $place.responses.$module import $model

_FIND: Final = "SELECT id, created_at FROM $table WHERE id = $$1"


async def find_$name(uow: UnitOfWork, ${name}_id: UUID) -> $model:
    """Return the row that row policies show to the caller. Raises NotFound."""
    row = await uow.fetch_row(_FIND, ${name}_id)
    if row is None:
        raise NotFound
    return $model.from_row(row)
'''
_ROUTE: Final = '''\
"""Endpoints of $plain."""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import SIGNED_IN
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok
from $service.dependencies import Dependencies
from $place.queries.$module import find_$name
from $place.responses.$module import $model

endpoint = Endpoints("$plain")


@endpoint("GET", "$path", id="$operation.get", returns=$model, allow=SIGNED_IN)
async def get_$name(request: Request, caller: CurrentCaller, ${name}_id: UUID) -> Response:
    """Return one $words."""
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        return ok(request, await find_$name(uow, ${name}_id))
'''


@dataclass(frozen=True, slots=True)
class NewEndpoint:
    """An endpoint to write. `place` is a service or one of its contexts; `noun` is singular, with hyphens; `table` has
    the columns `id` and `created_at`.
    """

    place: str
    noun: str
    table: str

    def files(self) -> dict[Path, str]:
        """Return the texts of the new files, by their path below the root."""
        name, words = self.noun.replace("-", "_"), self.noun.replace("-", " ")
        first, *rest = f"{self.noun}s".split("-")
        collection = f"/api/{self.noun}s"
        app = _APPS.get(self.service, "OpenService")
        values = {
            "service": self.service,
            "place": self.place,
            "table": self.table,
            "name": name,
            "module": self.module,
            "words": words,
            "plain": f"{words}s",
            "model": "".join(word.capitalize() for word in self.noun.split("-")),
            "operation": first + "".join(word.capitalize() for word in rest),
            "collection": collection,
            "path": f"{collection}/{{{name}_id}}",
            "app": app,
            "import_app": f"from .conftest import {app}"
            if self.service in _APPS
            else "from testkit.service_kit import OpenService",
            "sign_in": _SIGN_IN.get(self.service, "caller = app.headers(uuid4())"),
        }
        source, context = self.source, self.place.partition(".")[2]
        templates = {
            Path("services", self.service, "tests/integration", context, f"test_{self.module}.py"): _TEST,
            source / f"queries/{self.module}.py": _QUERY,
            source / f"responses/{self.module}.py": _RESPONSE,
            source / f"routes/{self.module}.py": _ROUTE,
        }
        return {path: formatted(Template(template).substitute(values)) for path, template in templates.items()}

    @property
    def service(self) -> str:
        return self.place.partition(".")[0]

    @property
    def source(self) -> Path:
        """The package of the service or context, below the root."""
        return Path("services", self.service, "src", *self.place.split("."))

    @property
    def module(self) -> str:
        return f"{self.noun.replace('-', '_')}s"

    def registered(self, text: str) -> str:
        """Return `routes/__init__.py` with the new module."""
        imports = f"from {self.place}.routes import (\n"
        if imports not in text or "\nENDPOINTS = (\n" not in text:
            raise ValueError(f"routes/__init__.py of {self.place} has another form")
        head, _, tail = text.partition(imports)
        names, closing, after = tail.partition(")\n")
        modules = sorted([*names.split(), f"{self.module},"])
        listed = after.rstrip().removesuffix(")") + f"    {self.module}.endpoint,\n)\n"
        return head + imports + "".join(f"    {module}\n" for module in modules) + closing + listed


def write_endpoint(new: NewEndpoint, root: Path = ROOT) -> list[Path]:
    """Write the files, and return them. Raises FileExistsError before anything is written."""
    files = new.files()
    for path in files:
        if (root / path).exists():
            raise FileExistsError(path)
    routes = root / new.source / "routes/__init__.py"
    registered = new.registered(routes.read_text())
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    package = root / new.source / "responses/__init__.py"
    if not package.exists():
        package.write_text('"""Responses, one module for each area."""\n')
    routes.write_text(registered)
    return list(files)


def main() -> None:
    parser = ArgumentParser(prog="make new-endpoint")
    parser.add_argument("place", choices=_PLACES, metavar="service")
    parser.add_argument("noun", help="singular, such as payout-note")
    parser.add_argument("table", help="a table with the columns id and created_at")
    given = parser.parse_args()
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", given.noun):
        sys.exit(f"{given.noun}: a noun has lower-case letters and hyphens, such as payout-note")
    try:
        written = write_endpoint(NewEndpoint(given.place, given.noun, given.table))
    except FileExistsError as problem:
        sys.exit(f"{problem} exists")
    print("\n".join(map(str, written)))
    print("Next: run the test, add the fields, choose the guard, then `make documents`.")


if __name__ == "__main__":
    main()
