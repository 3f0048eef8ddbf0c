"""The command lines of a drill from released images; the drills themselves run them on an engine."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from campus_tools.launcher import System
from campus_tools.launcher.runtimes import Program
from lab.bench.programs import BenchFailed
from lab.drills.containers import Containers, images_of
from lab.drills.rotation.service_commands import ServiceCommands
from operations.environment import Environments
from operations.processes import CAMPUS
from operations.provision import audit_database_url
from operations.secrets import load_secrets

ROOT = Path(__file__).parents[2]
DIGEST = "sha256:" + "0" * 64
PORT_BASE = 20_000


@dataclass(frozen=True)
class Addresses:
    database_url: str = "postgresql://admin:password-of-the-admin@127.0.0.1:5432/postgres"
    broker_url: str = "amqp://admin:password-of-the-admin@127.0.0.1:5672/"
    rate_limit_store_url: str | None = None


@pytest.fixture
def images(tmp_path: Path) -> dict[str, str]:
    """Return the images of a release, as `deploy/release/build-images` writes them."""
    built = [
        line.split()[0] for line in (ROOT / "deploy/release/images.txt").read_text().splitlines() if line[0] != "#"
    ]
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "images.txt").write_text("".join(f"campus-{name} registry/{name}@{DIGEST}\n" for name in built))
    return images_of(folder)


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, str]:
    known = load_secrets(tmp_path, {})
    return known | {"AUDIT_DATABASE_URL": audit_database_url(Addresses().database_url, known)}


@pytest.fixture
def environments(tmp_path: Path, secrets: dict[str, str]) -> Environments:
    return Environments(os.environ, port_base=PORT_BASE, state_dir=tmp_path, servers=Addresses(), secrets=secrets)


def variables_of(command: list[str]) -> set[str]:
    return {command[index + 1] for index, word in enumerate(command) if word == "--env"}


def test_every_process_runs_from_the_digest_of_its_image(images: dict[str, str], environments: Environments) -> None:
    services = {service.name: service for service in CAMPUS.services}
    for plan in CAMPUS.processes:
        environment = environments.for_process(plan, services.get(plan.service))
        program = Program(plan.name, plan.service, plan.module)
        command, _ = Containers(images).command(program, environment)
        assert command[command.index(f"registry/{plan.service}@{DIGEST}") + 1 :] == list(plan.module[1:])
        assert {"--read-only", "--rm", "--cap-drop"} < set(command)
        assert command[command.index("--user") + 1] == "10001"


def test_no_argument_contains_a_secret(
    images: dict[str, str], environments: Environments, secrets: dict[str, str]
) -> None:
    services = {service.name: service for service in CAMPUS.services}
    for plan in CAMPUS.processes:
        given = environments.for_process(plan, services.get(plan.service))
        command, environment = Containers(images).command(Program(plan.name, plan.service, plan.module), given)
        words = " ".join(command)
        assert [name for name, text in secrets.items() if len(text) >= 16 and text in words] == []
        assert [name for name, text in given.items() if "_KEY" in name and text and environment[name] != text] == []
        assert {name for name in given if "_KEY" in name or "_URL" in name} <= variables_of(command)


def test_variables_of_the_machine_do_not_enter_a_container(images: dict[str, str]) -> None:
    given = {"PATH": "/here", "PYTHONPATH": "/here", "HOME": "/here", "PORT": "20001"}
    command, environment = Containers(images).command(Program("orders-api", "orders", ("orders", "api")), given)
    assert variables_of(command) == {"PORT", "MEDIA_FOLDER"}
    assert environment["PORT"] == "20001"


def test_a_migration_has_the_owners_address_alone_and_its_own_account(
    images: dict[str, str], environments: Environments
) -> None:
    orders = next(service for service in CAMPUS.services if service.name == "orders")
    program = Program("orders-migrate", "orders", ("orders", "migrate"))
    command, environment = Containers(images).command(program, environments.for_migration(orders))
    assert variables_of(command) == {"OWNER_DATABASE_URL"}
    assert command[command.index("--user") + 1] == "10002"
    assert "campus_orders_owner" in environment["OWNER_DATABASE_URL"]


def test_an_operators_program_mounts_the_state_directory_under_the_operators_account(
    images: dict[str, str], tmp_path: Path
) -> None:
    program = Program("audit", "operations", ("operations.audit", "--json"), state_dir=tmp_path)
    command, environment = Containers(images).command(program, {"STATE_DIR": str(tmp_path)})
    assert command[command.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"
    assert f"{tmp_path}:{tmp_path}" in command
    assert command[-2:] == [f"registry/operations@{DIGEST}", "--json"]
    assert environment["MODULE"] == "operations.audit"


def test_another_version_replaces_the_images_for_later_starts(images: dict[str, str]) -> None:
    containers = Containers(images)
    program = Program("payouts-worker", "payouts", ("payouts", "worker"))
    containers.images = {name: f"{reference.partition('@')[0]}:2" for name, reference in images.items()}
    assert "registry/payouts:2" in containers.command(program, {})[0]


def test_a_folder_without_a_list_of_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchFailed, match=r"images\.txt does not exist"):
        images_of(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "by_a_service"),
    [
        (("rotation", "begin", "jwt-signing-keys", "--yes"), True),
        (("rotation", "end", "jwt-signing-keys", "--yes"), True),
        (("rotation", "re-encrypt", "pin-key"), True),
        (("rotation", "end", "sealing-key", "--yes"), True),
        (("service", "orders", "re-encrypt", "--count"), True),
        (("rotation", "begin", "sealing-key", "--yes"), False),
        (("rotation", "end", "database-passwords", "--now", "--yes"), False),
        (("rotation", "roll"), False),
    ],
)
def test_commands_with_the_code_of_a_service_run_in_its_image(
    arguments: tuple[str, ...], by_a_service: bool, tmp_path: Path
) -> None:
    """The operations image has no service."""
    assert ServiceCommands(System(tmp_path, PORT_BASE)).runs(arguments) is by_a_service
