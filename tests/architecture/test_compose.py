"""docker-compose.yml declares the dependencies, the settings and the confinement of each process."""

import re
from fnmatch import fnmatchcase

import pytest

import console.settings
from operations.processes import SECRETS_OF_SERVICES
from tests.architecture.compose import FILE, SETTINGS_FILES, compose, settings_of
from tests.architecture.manifests import INSIDE_FILES, SETTINGS, variables_of_the_image

COMPOSE = compose()
PARTS = COMPOSE["services"]
OURS = {name: part for name, part in PARTS.items() if part["image"].startswith("campus-")}
PROCESSES = [name for name, part in OURS.items() if part.get("command") in ("api", "worker", "all")]
# Written into the file of secrets by operations.secret_files.
ADDRESSES_WITH_PASSWORDS = {"API_DATABASE_URL", "SERVICE_DATABASE_URL", "BROKER_URL"}
# Settings of every service that only some use; identity's address follows from JWKS_URL.
# The broker of docker compose has no public port for subscribers.
UNUSED = {"SERVICE_ROLE_KEY", "SERVICE_ROLE_KEY_PREVIOUS", "CURSOR_KEY", "IDENTITY_URL", "EVENTS_ADDRESS"}
# Cells are systems of their own on machines of their own (docs/cells.md).
NOT_ON_ONE_MACHINE = {"CELL", "CELLS"} | INSIDE_FILES
READ_OUTSIDE_SETTINGS = {
    "DEMO_DATA",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
}
ROOT_INSIDE = {"secrets", "demo", "audit"}
"""They read or write files of several owners (deploy/README.md)."""
TOOLS = {"demo", "audit"}
processes = pytest.mark.parametrize("process", PROCESSES)


def service_of(process: str) -> str:
    return PARTS[process]["image"].removeprefix("campus-")


def fields_of(process: str) -> set[str]:
    return {name.upper() for name in SETTINGS[service_of(process)].model_fields}


def needed_by(part: str) -> set[str]:
    return set(PARTS[part].get("depends_on", {}))


def test_every_service_has_its_processes() -> None:
    """One on this machine; docker-compose.scale.yml alone starts workers of their own."""
    services = set(SETTINGS) - {"api-gateway"}
    started = {name: PARTS[name]["command"] for name in PROCESSES if "profiles" not in PARTS[name]}
    assert started == {"api-gateway": "api"} | dict.fromkeys(services, "all")
    apart = {name: PARTS[name] for name in PROCESSES if "profiles" in PARTS[name]}
    assert set(apart) == {f"{name}-worker" for name in services}
    for name, worker in apart.items():
        assert worker == PARTS[service_of(name)] | {"command": "worker", "profiles": ["scale"]}


def test_a_service_depends_on_earlier_services_only() -> None:
    above = set[str]()
    for name in PARTS:
        assert needed_by(name) <= above, name
        above.add(name)


@processes
def test_a_process_gets_known_settings_only(process) -> None:
    assert set(PARTS[process]["environment"]) - READ_OUTSIDE_SETTINGS <= fields_of(process)


@processes
def test_every_setting_of_a_process_can_be_set(process) -> None:
    allowed = SECRETS_OF_SERVICES[service_of(process)]
    secret = {
        name
        for name in fields_of(process)
        if any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}_PREVIOUS") for pattern in allowed)
    }
    given = set(PARTS[process]["environment"]) | variables_of_the_image()
    unsaid = fields_of(process) - given - secret - ADDRESSES_WITH_PASSWORDS - UNUSED - NOT_ON_ONE_MACHINE
    assert not unsaid, (
        f"nobody can set {sorted(unsaid)} of {process}: give each a line in deploy/compose/{service_of(process)}.env"
    )


@processes
def test_a_process_starts_after_its_migration(process) -> None:
    reached, ahead = set(), [process]
    while ahead:
        part = ahead.pop()
        reached.add(part)
        ahead += needed_by(part)
    assert {f"{service_of(process)}-migrate", "provision", "postgres", "rabbitmq", "secrets"} <= reached


def test_a_one_shot_is_repeated_after_a_failure_as_a_job_is() -> None:
    one_shots = {name for name in OURS if name.endswith(("-migrate", "-demo-data"))} | {
        "secrets",
        "provision",
        "media-buckets",
    }
    assert {name: part["restart"] for name, part in OURS.items()} == {
        name: "on-failure:5" if name in one_shots else "no" if name in TOOLS else "unless-stopped" for name in OURS
    }


def test_no_container_that_keeps_running_has_a_disabled_health_check() -> None:
    """`docker compose up --wait` fails on one (docker/compose#13522)."""
    assert "traces" in PARTS
    for name, part in PARTS.items():
        if part.get("restart") == "unless-stopped":
            assert not part.get("healthcheck", {}).get("disable"), name


def test_the_console_gets_its_settings_and_reaches_the_gateway_only() -> None:
    fields = {name.upper() for name in console.settings.Settings.model_fields}
    given = set(PARTS["console"]["environment"])
    assert given - READ_OUTSIDE_SETTINGS <= fields
    assert fields - given - variables_of_the_image() == {
        "CONSOLE_KEY",
        "CONSOLE_KEY_PREVIOUS",
        *INSIDE_FILES,
    }
    assert SECRETS_OF_SERVICES["console"] == ("CONSOLE_KEY",)
    assert needed_by("console") == {"api-gateway"}


def test_the_gateway_trusts_the_console_and_no_network() -> None:
    assert PARTS["api-gateway"]["environment"]["TRUSTED_PROXIES"] == "${TRUSTED_PROXIES:-console}"


def test_our_containers_are_confined_without_root() -> None:
    for name, part in OURS.items():
        assert part["read_only"], name
        assert part["cap_drop"] == ["ALL"], name
        assert part["security_opt"] == ["no-new-privileges:true"], name
        assert (part.get("user") == "root") == (name in ROOT_INSIDE), name
        assert "privileged" not in part, name


def test_a_container_mounts_its_own_secrets_read_only() -> None:
    for name, part in OURS.items():
        mounted = [mount for mount in part.get("volumes", []) if mount.startswith("secrets-of-")]
        if name == "secrets":
            continue
        assert all(mount.endswith(":ro") for mount in mounted), name
        holders = {
            "demo": "the-system",
            "audit": "the-system",
            "provision": "provision",
            "subscriber-supervisor": "provision",
            "media-buckets": "minio",
        }
        holder = holders.get(name, service_of(name))
        assert [mount.partition(":")[0] for mount in mounted] == [f"secrets-of-{holder}"], name


@processes
def test_a_service_with_images_mounts_its_volume(process) -> None:
    folder = PARTS[process].get("environment", {}).get("MEDIA_FOLDER")
    shared = [each for each in PARTS[process]["volumes"] if folder and folder.startswith(each.split(":")[1] + "/")]
    of_the_endpoints = [each for each in PARTS[service_of(process)]["volumes"] if each in shared] if folder else []
    assert len(of_the_endpoints) == (1 if folder else 0), "what one process stores the other must find, and remove"


def test_every_image_is_built_once_or_has_a_version() -> None:
    built = [part["image"] for part in OURS.values() if "build" in part]
    assert sorted(built) == sorted({part["image"] for part in OURS.values()})
    for part in PARTS.values():
        if not part["image"].startswith("campus-"):
            assert re.match(r"v?\d|RELEASE\.\d", part["image"].rpartition(":")[2]), part["image"]


def test_every_volume_and_network_is_declared() -> None:
    for name, part in PARTS.items():
        named = {mount.partition(":")[0] for mount in part.get("volumes", [])}
        assert {volume for volume in named if volume[0] not in "./"} <= set(COMPOSE["volumes"]), name
        assert set(part.get("networks", [])) <= set(COMPOSE["networks"]), name


def test_every_settings_file_is_used_and_names_a_setting_once() -> None:
    for path in SETTINGS_FILES.glob("*.env"):
        assert f"deploy/compose/{path.name}" in FILE.read_text()
        assert len(settings_of(path)) == len(re.findall(r"^[A-Z]", path.read_text(), re.MULTILINE)), path


def test_the_topology_is_readable_at_once() -> None:
    assert len(FILE.read_text().splitlines()) <= 400, "settings belong to deploy/compose"
