"""All services have the same structure."""

import ast
import re

import pytest

from tests.architecture.sources import CONTEXTS, SHAPED, imports_of, inside, python_files, texts_of, tree_of

ROOMS = {
    "__init__", "__main__", "app", "settings", "routes", "consumers", "timers", "schemas", "responses", "use_cases",
    "queries", "store",
    "clients", "tables", "domain", "data", "templates", "demo", "dependencies", "metrics", "streams", "credentials",
}  # fmt: skip
SQL_ROOMS = {"store", "queries", "timers", "demo"}
TABLE = re.compile(r"Table\(\s*\"(\w+)\"")
READ_OR_WRITTEN = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:ONLY\s+)?(\w+)")
STATEMENT = re.compile(r"^\s*(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|WITH \w+ AS)\b", re.MULTILINE)
FRAMEWORKS = ("fastapi", "starlette", "httpx", "aiohttp", "sqlalchemy", "asyncpg", "aio_pika", "alembic", "pydantic")
PURE = (
    "common.primitives.decisions",
    "common.messaging.faults",
    "common.primitives.lifecycles",
    "common.primitives.phone_numbers",
    "common.primitives.problems",
    "common.primitives.public_numbers",
    "common.primitives.money",
    "common.ledger.posting",
    "common.primitives.cells",
    "common.primitives.clock",
    "common.primitives.ids",
    "common.primitives.json_records",
    "common.primitives.retry",
    "common.primitives.shared_addresses",
    "common.web.csv_export",
    "common.auth.caller",
    "common.documents.document",
)

services = pytest.mark.parametrize("service", SHAPED)


def offences(service: str, room: str, forbidden: tuple[str, ...]) -> list[str]:
    package = SHAPED[service]
    return [
        f"{path.relative_to(package)} imports {name}"
        for path in python_files(package)
        if inside(path, package) == room
        for name in imports_of(path)
        if name.startswith(forbidden)
    ]


@services
def test_a_service_has_the_standard_folders_only(service) -> None:
    package = SHAPED[service]
    found = {inside(path, package) for path in python_files(package)}
    assert found - ROOMS == set()
    assert {"__main__", "app", "settings", "routes", "use_cases", "queries", "store", "tables", "domain"} <= found


PUBLISHED_WORDS = (
    "contracts.channels",
    "contracts.opening_hours",
    "contracts.permissions",
    "contracts.severities",
    "contracts.transaction_types",
    "contracts.webhook_types",
)


@services
def test_the_domain_is_pure(service) -> None:
    package = SHAPED[service]
    foreign = [
        f"{path.relative_to(package)} imports {name}"
        for path in python_files(package)
        if inside(path, package) == "domain"
        for name in imports_of(path)
        if name.startswith((*FRAMEWORKS, "common.", "contracts")) and not name.startswith((*PURE, *PUBLISHED_WORDS))
    ]
    assert foreign == []


@services
def test_use_cases_import_neither_http_nor_a_provider_s_library(service) -> None:
    forbidden = tuple(name for name in FRAMEWORKS if name not in ("asyncpg",))
    assert offences(service, "use_cases", forbidden) == []


@services
def test_routes_call_use_cases_and_queries_only(service) -> None:
    stores = (f"{service}.store", *(f"{service}.{context.name}.store" for context in CONTEXTS[service]))
    assert offences(service, "routes", ("asyncpg", "sqlalchemy", *stores)) == []


@services
def test_a_context_reads_and_writes_its_own_tables_only(service) -> None:
    owners = {
        table: context for context in CONTEXTS[service] for table in TABLE.findall((context / "tables.py").read_text())
    }
    foreign = [
        f"{path.relative_to(context)} of {context.name}: {table}"
        for context in CONTEXTS[service]
        for path in python_files(context)
        for text in texts_of(path)
        for table in READ_OR_WRITTEN.findall(text)
        if owners.get(table, context) != context
    ]
    assert foreign == []


@services
def test_queries_and_store_import_no_http(service) -> None:
    for room in ("queries", "store", "timers", "consumers"):
        assert offences(service, room, ("fastapi", "starlette", "httpx")) == []


@services
def test_settings_are_read_in_the_composition_root_only(service) -> None:
    package = SHAPED[service]
    readers = [
        inside(path, package)
        for path in python_files(package)
        if any(name.startswith(f"{service}.settings") for name in imports_of(path))
    ]
    assert set(readers) <= {"app", "dependencies", "__main__"}


@services
def test_sql_is_written_in_its_modules_only(service) -> None:
    package = SHAPED[service]
    strays = [
        f"{path.relative_to(package)}: {text.strip()[:60]}"
        for path in python_files(package)
        if inside(path, package) not in SQL_ROOMS
        for text in texts_of(path)
        if STATEMENT.search(text)
    ]
    assert strays == []


@services
def test_store_and_queries_give_their_functions_no_second_name(service) -> None:
    package = SHAPED[service]
    faces = [path for room in ("store", "queries") for path in package.rglob(f"{room}/__init__.py")]
    assert faces
    assert [f"{path.relative_to(package)} imports {name}" for path in faces for name in imports_of(path)] == []


@services
def test_alerts_are_published_by_modules_of_alerts_only(service) -> None:
    package, events = SHAPED[service], ("contracts.operations.AlertRaised", "contracts.operations.AlertCleared")
    strays = [
        f"{path.relative_to(package)} imports {name}"
        for path in python_files(package)
        if path.name != "alerts.py" and inside(path, package) != "consumers"
        for name in imports_of(path)
        if name in ("common.messaging.alerts", *events)
    ]
    assert strays == []


@services
def test_a_use_case_is_one_public_function_of_the_file_s_name(service) -> None:
    package = SHAPED[service]
    for path in python_files(package):
        # The alerts of a service are one module, and so are the shared steps of a noun.
        if inside(path, package) != "use_cases" or path.name in ("__init__.py", "alerts.py", "steps.py"):
            continue
        functions = [node for node in tree_of(path).body if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef)]
        public = [node.name for node in functions if not node.name.startswith("_")]
        assert len(public) == 1, f"{path.relative_to(package)} has the public functions {public}"
        assert public[0] == path.stem, f"{path.relative_to(package)} defines {public[0]}"
        assert ast.get_docstring(next(node for node in functions if node.name == public[0])), (
            f"{path.name} has no docstring"
        )
