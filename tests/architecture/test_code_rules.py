"""Code rules that no linter checks."""

import ast
import json
import re
import shlex
import textwrap
from functools import cache

import jsonschema
import pytest
import yaml
from typer.main import get_command

from campus_tools.observability.rules import alerts
from operations.campusctl.app import app as operators
from operations.rotation.secret_store import Secret
from operations.secret_table import SECRETS, Form
from operations.services import SERVICES as SERVICES_WITH_DATABASES
from tests.architecture.sources import (
    FOLDERS,
    ROOT,
    SERVICES,
    dotted,
    for_each,
    imports_of,
    nodes_of,
    product_files,
    python_files,
    texts_of,
    tree_of,
)

PRODUCT = product_files()
ALL = python_files(*FOLDERS)
# A module that outgrows this is a folder of verbs that has not been made yet.
LINES_MAX = 400
# The rules of a package are in its docstring.
DESCRIPTION_WORDS_MAX = 600
ONLY_CLOCK_AND_IDS = {"clock.py", "ids.py"}
# Those that no alert names: what is done by the calendar, and after a theft.
ROTATIONS = {
    *(
        "rotate-gateway-secret",
        "rotate-flutterwave-hash",
        "rotate-service-role-key",
        "rotate-signing-keys",
        "rotate-database-passwords",
    ),
    *(
        "rotate-ai-key",
        "rotate-certificates",
        "rotate-sealing-keys",
        "rotate-dns-token",
        "compromised-key",
        "incident-report",
    ),
}
SESSION_STATE = re.compile(
    r"^\s*(SET (?!LOCAL)\w+\b.*(=|TO)|LISTEN |PREPARE \w+ *(\(|AS)|pg_advisory_lock\()", re.IGNORECASE
)
COMMANDS = get_command(operators)
UNKNOWN_ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"


@cache
def calls_of(path) -> list[str]:
    return [dotted(node.func) for node in nodes_of(path) if isinstance(node, ast.Call)]


@for_each(PRODUCT)
def test_time_and_randomness_come_from_one_place(path) -> None:
    if path.parent.name == "primitives" and path.name in ONLY_CLOCK_AND_IDS:
        return
    forbidden = {
        "datetime.now",
        "datetime.utcnow",
        "time.time",
        "date.today",
        "uuid4",
        "uuid.uuid4",
        "uuid1",
        "secrets.token_hex",
        "secrets.token_urlsafe",
        "secrets.randbelow",
    }
    assert not forbidden & set(calls_of(path))


@for_each([*PRODUCT, *python_files(ROOT / "console/src")])
def test_cookies_are_split_as_browsers_join_them(path) -> None:
    """The parser of http.cookies, which starlette uses, gives up at the first cookie that it does not like."""
    assert "http.cookies" not in imports_of(path)
    assert not re.search(r"request\.cookies|SimpleCookie|cookie_parser", path.read_text())


@for_each(PRODUCT)
def test_csv_files_are_written_in_one_place(path) -> None:
    """It quotes and escapes texts. A stream says in the file that it ended early."""
    if path.name == "csv_export.py":
        return
    assert not [call for call in calls_of(path) if call.startswith("csv.")]
    if "text/csv" not in path.read_text():
        return
    streams = [ast.unparse(node) for node in nodes_of(path) if isinstance(node, ast.Call)]
    files = [text for text in streams if text.startswith("StreamingResponse(") and "text/csv" in text]
    # `csv_of_orders` and `csv_of_products` have read all its rows before.
    assert all("csv_stream(" in text or "csv_of_orders(" in text or "csv_of_products(" in text for text in files)


@for_each(PRODUCT)
def test_no_session_state_outlives_its_transaction(path) -> None:
    """Pools do not reset connections (decision 2)."""
    for text in texts_of(path):
        assert not SESSION_STATE.search(text), text


@for_each(PRODUCT)
def test_private_attributes_stay_in_their_module(path) -> None:
    """asyncpg's `_con`, for example, may change with any release."""
    nodes = nodes_of(path)
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    own = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}}
    own |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    # The public methods of a named tuple.
    own |= {"_asdict", "_replace"}
    assert {node.attr for node in attributes if re.match("_[^_]", node.attr)} - own == set()


@for_each(PRODUCT)
def test_no_todo_is_left(path) -> None:
    source = path.read_text()
    assert not re.search(r"\b(TODO|FIXME|HACK)\b|NotImplementedError", source)


@for_each([*PRODUCT, *python_files(ROOT / "console/src")])
def test_a_module_has_a_bounded_length(path) -> None:
    assert len(path.read_text().splitlines()) <= LINES_MAX


@for_each(PRODUCT)
def test_a_module_has_a_docstring(path) -> None:
    if path.read_text().strip():
        assert ast.get_docstring(tree_of(path)) or path.name == "__init__.py"


@for_each(PRODUCT)
def test_names_avoid_vague_words(path) -> None:
    refused = {"manager", "helper", "helpers", "util", "utils", "misc", "base", "data", "info"}
    words = set(path.stem.split("_"))
    assert not refused & words


@for_each([path for path in ALL if "tests" in path.parts])
def test_tests_wait_with_a_probe_and_never_sleep(path) -> None:
    # To write a call as text costs more than to parse its file.
    assert "time.sleep" not in path.read_text() or "time.sleep" not in calls_of(path)


@for_each([path for path in [*ALL, *python_files(ROOT / "clients")] if "tests" in path.relative_to(ROOT).parts])
def test_no_test_imports_a_module_of_tests(path) -> None:
    """Steps of several tests are in a module of steps or in testkit, so that a test may be removed alone."""
    imports = [node for node in nodes_of(path) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = [getattr(node, "module", None) or "" for node in imports] + [
        one.name for node in imports for one in node.names
    ]
    assert not re.findall(r"\btest_\w+", " ".join(named))


@for_each([path for path in ALL if path.name.startswith("test_")])
def test_no_test_is_skipped_silently(path) -> None:
    if not re.search("skip|xfail", path.read_text()):
        return
    marks = {dotted(node) for node in nodes_of(path) if isinstance(node, ast.Attribute)}
    assert not {"pytest.mark.skip", "pytest.mark.xfail", "pytest.skip", "pytest.mark.skipif", "pytest.xfail"} & marks


@for_each(ALL)
def test_no_file_contains_the_path_of_its_checkout(path) -> None:
    assert str(ROOT) not in path.read_text()


@pytest.mark.parametrize("service", SERVICES)
def test_the_description_of_a_service_is_one_page(service) -> None:
    text = (ROOT / "services" / service / "README.md").read_text()
    assert text.startswith("# ")
    assert len(text.split()) <= DESCRIPTION_WORDS_MAX


def test_only_configuration_names_the_sandbox() -> None:
    for path in PRODUCT:
        assert "sandbox" not in {name.split(".")[0] for name in imports_of(path)}
        assert not [text for text in texts_of(path) if "sandbox" in text.lower()], path


def test_every_alert_has_its_runbook() -> None:
    named = {
        match
        for path in PRODUCT
        for match in re.findall(r"runbook=\"([a-z-]+)\"|RUNBOOK(?:: Final)? = \"([a-z-]+)\"", path.read_text())
    }
    runbooks = {first or second for first, second in named}
    runbooks |= {rule["alert"] for rule in alerts()}
    written = {path.stem for path in (ROOT / "docs/runbooks").glob("*.md")}
    assert written - ROTATIONS - {"README"} == runbooks


def test_every_secret_that_is_rotated_has_its_runbook() -> None:
    assert {path.stem for path in (ROOT / "docs/runbooks").glob("*.md")} >= ROTATIONS
    assert set(Secret) == {
        "gateway-secret-key",
        "flutterwave-webhook-hash",
        "service-role-key",
        "jwt-signing-keys",
        "database-passwords",
        "ai-provider-key",
        "dns-automation-token",
        "sealing-key",
        "pin-key",
    }


def test_the_runbook_of_a_compromised_key_names_every_secret() -> None:
    page = (ROOT / "docs/runbooks/compromised-key.md").read_text()
    services = "|".join(service.import_name.upper() for service in SERVICES_WITH_DATABASES)
    for row in SECRETS:
        # One service, and one demo account, stands for the others.
        name = re.sub(
            rf"^(CAMPUS|BROKER)_({services})_", r"\1_ORDERS_", row.name.replace("_NEXT_", "_").removesuffix("_PREVIOUS")
        )
        name = re.sub(r"^DEMO_TOTP_.*", "DEMO_TOTP_ADMIN", name)
        assert row.form is Form.login or f"`{name}`" in page, row.name


def test_the_certificate_that_proves_a_new_dns_token_is_valid() -> None:
    page = (ROOT / "docs/runbooks/rotate-dns-token.md").read_text()
    [block] = re.findall(r"<<'END'\n(.*?)\n +END\n", page, re.DOTALL)
    schema = json.loads((ROOT / "deploy/k8s/schemas/cert-manager.io_v1_Certificate.json").read_text())
    certificate = yaml.safe_load(textwrap.dedent(block))
    jsonschema.validate(certificate, schema)
    issuer = (ROOT / "deploy/k8s/components/edge/certificate.yaml").read_text()
    assert f"metadata: {{name: {certificate['spec']['issuerRef']['name']}," in issuer


@for_each([ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *(ROOT / "deploy").rglob("*.md")])
def test_every_documented_operator_command_exists(page) -> None:
    fills = {
        "ID": UNKNOWN_ID,
        "SERVICE": "orders",
        "KID": UNKNOWN_ID,
        "INSTANT": "2026-11-21T10:00:00Z",
        "…": "",
        "...": "",
    }
    for words in re.findall(r"(?:^ {4,}|`|&& )campusctl ([a-z][^`\n&#|]*[^`\n&#| ])", page.read_text(), re.MULTILINE):
        given = [fills.get(word, word) for word in shlex.split(words)]
        command = COMMANDS
        while hasattr(command, "commands") and given:
            assert given[0] in command.commands, words
            command, given = command.commands[given[0]], given[1:]
        # The page of all commands names them bare.
        if page.stem == "campusctl" and not given:
            continue
        # Parsed without being run.
        command.make_context(words, [word for word in given if word])
