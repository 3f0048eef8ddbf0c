"""`make run` passes an exported setting to the process that reads it, and drops unknown ones silently."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from campus_tools.servers import find_servers
from campus_tools.servers.ports import ServerPorts
from operations.environment import Environments
from operations.processes import CAMPUS
from operations.secrets import load_secrets
from operations.services import service_named
from tests.architecture.manifests import INSIDE_FILES, SETTINGS

# Settings of every service that only some use.
UNUSED = {"SERVICE_ROLE_KEY", "SERVICE_ROLE_KEY_PREVIOUS", "CURSOR_KEY"} | INSIDE_FILES
GIVEN = {
    "DATABASE_URL": "postgresql://account:password@servers.example/postgres",
    "BROKER_URL": "amqp://account:password@servers.example/",
    "RATE_LIMIT_STORE_URL": "redis://servers.example:6379/0",
}


def fields_of(service: str) -> set[str]:
    return {name.upper() for name in SETTINGS[service].model_fields}


@pytest.mark.parametrize(
    "plan", [plan for plan in CAMPUS.processes if plan.service in SETTINGS], ids=lambda it: it.name
)
def test_an_exported_setting_reaches_its_process(plan, tmp_path: Path) -> None:
    environments = Environments(
        dict.fromkeys(fields_of(plan.service), "given"),
        port_base=9000,
        state_dir=tmp_path,
        servers=find_servers(tmp_path, ServerPorts.above(9000), environment=GIVEN),
        secrets=load_secrets(tmp_path, {}),
    )
    given = environments.for_process(plan, service_named(plan.service))
    dropped = fields_of(plan.service) - set(given) - UNUSED
    assert not dropped, (
        f"name {sorted(dropped)} in PASSED_ON (or _GIVEN_TO) of operations/src/operations/environment.py"
    )


@pytest.mark.parametrize("shared", [False, True])
def test_a_process_uses_the_account_of_its_service(shared: bool, tmp_path: Path) -> None:
    environments = Environments(
        {"BROKER_ACCOUNTS": "shared"} if shared else {},
        port_base=9000,
        state_dir=tmp_path,
        servers=find_servers(tmp_path, ServerPorts.above(9000), environment=GIVEN),
        secrets=load_secrets(tmp_path, {}),
    )
    for plan in CAMPUS.processes:
        if plan.service in SETTINGS:
            given = environments.for_process(plan, service_named(plan.service))
            account = urlsplit(given["BROKER_URL"]).username
            assert account == ("account" if shared else plan.service)


def test_the_gateway_trusts_the_address_of_the_console_and_no_other(tmp_path: Path) -> None:
    environments = Environments(
        {},
        port_base=9000,
        state_dir=tmp_path,
        servers=find_servers(tmp_path, ServerPorts.above(9000), environment=GIVEN),
        secrets=load_secrets(tmp_path, {}),
    )
    (gateway,) = (plan for plan in CAMPUS.processes if plan.service == "api-gateway")
    (console,) = (plan for plan in CAMPUS.processes if plan.service == "console")
    trusted = environments.for_process(gateway, service_named("api-gateway"))["TRUSTED_PROXIES"]
    assert trusted == environments.for_process(console, None)["API_SOURCE_ADDRESS"] == "127.0.0.2"
