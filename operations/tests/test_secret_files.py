"""Each container's file of secrets contains the secrets of that container only."""

import os
from pathlib import Path

import pytest

from operations.secret_files import write_secret_files
from operations.secrets import read_secrets
from operations.services import SERVICES

SERVERS = {
    "DATABASE_URL": "postgresql://postgres@postgres:5432/postgres",
    "BROKER_URL": "amqp://campus@rabbitmq:5672/",
    "BROKER_MANAGEMENT_URL": "http://campus@rabbitmq:15672",
}


def handed_out(folder: Path, **given: str) -> None:
    write_secret_files(folder, {**SERVERS, **given}, running_user=os.getuid(), migrating_user=os.getuid())


def words_of(folder: Path) -> set[str]:
    """Every value in the files of one holder."""
    return {text for path in folder.iterdir() for text in read_secrets(path).values()}


def test_a_holder_has_its_own_secrets_and_no_others(tmp_path: Path) -> None:
    handed_out(tmp_path)
    kept = read_secrets(tmp_path / "system" / "secrets.env")
    assert kept["PIN_KEY"] in words_of(tmp_path / "orders")
    assert kept["GATEWAY_SECRET_KEY"] in words_of(tmp_path / "payments")
    for other in ("api-gateway", "identity", "payments", "payouts", "notifications", "sandbox"):
        assert kept["PIN_KEY"] not in words_of(tmp_path / other)
    for other in ("api-gateway", "identity", "orders", "notifications"):
        assert kept["GATEWAY_SECRET_KEY"] not in words_of(tmp_path / other)


def test_no_service_holds_a_key_of_a_purpose_that_is_not_its_own(tmp_path: Path) -> None:
    handed_out(tmp_path)
    kept = read_secrets(tmp_path / "system" / "secrets.env")
    keys = {service.name: read_secrets(tmp_path / service.name / "environment") for service in SERVICES}
    holders = {
        "CREDENTIALS_KEY": {"identity"},
        "CODE_DELIVERY_KEY": {"identity", "notifications"},
        "PIN_DELIVERY_KEY": {"orders", "notifications"},
        "ACCOUNT_NUMBER_KEY": {"payouts"},
        "MESSAGE_KEY": {"notifications"},
        "PIN_KEY": {"orders"},
    }
    for name, holding in holders.items():
        [value] = {keys[service][name] for service in holding}
        assert {service for service, known in keys.items() if value in known.values()} == holding
    # Every key of a purpose follows from this one.
    assert all(kept["SEALING_KEY"] not in known.values() for known in keys.values())


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_a_running_service_has_no_password_of_the_database_owner_or_administrator(service, tmp_path: Path) -> None:
    handed_out(tmp_path)
    kept = read_secrets(tmp_path / "system" / "secrets.env")
    running = read_secrets(tmp_path / service.name / "environment")
    everything = "\n".join(running.values())
    assert f"{service.api_role}_a:" in running["API_DATABASE_URL"]
    assert kept[f"{service.owner_role.upper()}_PASSWORD"] not in everything
    assert kept["POSTGRES_PASSWORD"] not in everything
    assert list(read_secrets(tmp_path / service.name / "migration")) == ["OWNER_DATABASE_URL"]


def test_handing_out_again_changes_no_secret(tmp_path: Path) -> None:
    handed_out(tmp_path)
    first = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    handed_out(tmp_path)
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == first


def test_a_given_secret_has_priority_and_its_predecessor_is_kept_while_it_is_named(tmp_path: Path) -> None:
    handed_out(tmp_path, GATEWAY_SECRET_KEY="new", GATEWAY_SECRET_KEY_PREVIOUS="old")
    payments = read_secrets(tmp_path / "payments" / "environment")
    assert (payments["GATEWAY_SECRET_KEY"], payments["GATEWAY_SECRET_KEY_PREVIOUS"]) == ("new", "old")
    assert "GATEWAY_SECRET_KEY_PREVIOUS" not in read_secrets(tmp_path / "orders" / "environment")
    handed_out(tmp_path)
    assert "GATEWAY_SECRET_KEY_PREVIOUS" not in read_secrets(tmp_path / "payments" / "environment")


def test_a_file_of_secrets_is_readable_by_its_reader_alone(tmp_path: Path) -> None:
    handed_out(tmp_path)
    for path in [*tmp_path.rglob("environment"), *tmp_path.rglob("migration")]:
        assert path.stat().st_mode & 0o777 == 0o400
    assert (tmp_path / "system" / "secrets.env").stat().st_mode & 0o777 == 0o600
