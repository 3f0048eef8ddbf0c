"""An invalid variable stops the start; all of them are named at once (architecture, section 6)."""

from typing import Any

import pytest
from pydantic import ValidationError

from common.primitives.inside_addresses import is_plain_address
from common.process.settings import Origins, ServiceSettings, read_settings


class Settings(ServiceSettings):
    allowed_origins: Origins = ()
    gateway_api_url: str = "http://sandbox:8080/gateway"


GOOD = {
    "PORT": "8080",
    "JWKS_URL": "http://identity:8000/.well-known/jwks.json",
    "API_DATABASE_URL": "postgresql+asyncpg://api:x@db/campus",
    "SERVICE_DATABASE_URL": "postgresql://service:x@db/campus",
    "BROKER_URL": "amqp://guest:guest@broker:5672/",
    "CURSOR_KEY": "0123456789abcdef",
}


def _read(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Any:
    for name, value in {**GOOD, **variables}.items():
        monkeypatch.setenv(name, value)
    return read_settings(Settings)


BAD = [
    ("BASE_URL", "shop.example"),
    ("BASE_URL", "ftp://shop.example"),
    ("BASE_URL", "https://"),
    ("JWKS_URL", "identity"),
    ("API_DATABASE_URL", "mysql://db/campus"),
    ("SERVICE_DATABASE_URL", "db"),
    ("BROKER_URL", "http://broker"),
    ("CURSOR_KEY", "short"),
    ("RETRY_DELAYS_SECONDS", "1,-5"),
    ("RETRY_DELAYS_SECONDS", "1,nan"),
    ("RETRY_DELAYS_SECONDS", "soon"),
    ("CELLS", "lagos"),
    ("CELLS", '[{"name": "lagos", "url": "http://lagos:8080"}]'),
    ("ALLOWED_ORIGINS", "*"),
    ("ALLOWED_ORIGINS", "shop.example"),
    ("ALLOWED_ORIGINS", "https://shop.example/path"),
    ("ALLOWED_ORIGINS", "https://shop.example:port"),
    ("ALLOWED_ORIGINS", "https://shop.example:*"),
    ("ALLOWED_ORIGINS", "http://localhost.shop.example:*"),
    ("ALLOWED_ORIGINS", "http://*:3000"),
    ("ALLOWED_ORIGINS", "http://localhost:*0"),
]


@pytest.mark.parametrize(("variable", "value"), BAD)
def test_an_invalid_value_stops_the_start(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        _read(monkeypatch, **{variable: value})
    assert end.value.code == 78
    assert f"  {variable}: " in capsys.readouterr().err


def test_all_invalid_values_are_named_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = dict(BAD)
    with pytest.raises(SystemExit):
        _read(monkeypatch, **bad)
    environment = capsys.readouterr().err
    assert [name for name in bad if f"  {name}: " not in environment] == []


def test_the_cells_are_read_together_with_the_own_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = '[{"name": "lagos", "url": "http://lagos:8080"}]'
    settings = _read(monkeypatch, CELL="lagos", CELLS=cells)
    assert [cell.name for cell in settings.all_cells.all] == ["lagos"]
    with pytest.raises(SystemExit):
        _read(monkeypatch, CELL="ibadan", CELLS=cells)
    monkeypatch.delenv("CELLS")
    with pytest.raises(SystemExit):
        _read(monkeypatch, CELL="lagos")


def test_origins_are_normalized(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = _read(
        monkeypatch, BASE_URL="https://shop.example/", ALLOWED_ORIGINS="https://Shop.example/, http://localhost:3000"
    )
    # Problem types are `{base_url}/errors/...`, and tokens name it as their issuer.
    assert settings.base_url == "https://shop.example"
    assert settings.allowed_origins == ("https://shop.example", "http://localhost:3000")


@pytest.mark.parametrize("origin", ["http://localhost:*", "http://127.0.0.1:*", "https://[::1]:*"])
def test_only_loopback_hosts_may_allow_any_port(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _read(monkeypatch, ALLOWED_ORIGINS=origin.upper()).allowed_origins == (origin,)


def test_a_wildcard_is_not_an_origin() -> None:
    with pytest.raises(ValidationError):
        Settings(allowed_origins=("*",))


@pytest.mark.parametrize("address", ["http://sandbox:8080/gateway", "http://127.0.0.1:8170", "https://api.example"])
def test_production_does_not_start_with_a_provider_of_development(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    with pytest.raises(SystemExit):
        _read(monkeypatch, ENVIRONMENT="production", NETWORK_ENCRYPTED="true", GATEWAY_API_URL=address)
    assert "GATEWAY_API_URL" in capsys.readouterr().err
    assert _read(monkeypatch, ENVIRONMENT="staging").gateway_api_url == address
    assert _read(
        monkeypatch, ENVIRONMENT="production", NETWORK_ENCRYPTED="true", GATEWAY_API_URL="https://api.paystack.co"
    ).environment


PLAIN = {
    "BROKER_URL": "amqp://orders:x@broker:5672/",
    "API_DATABASE_URL": "postgresql://api:x@db:5432/campus_orders",
    "SERVICE_DATABASE_URL": "postgresql://service:x@db:5432/campus_orders?sslmode=require",
    "JWKS_URL": "http://identity:8080/.well-known/jwks.json",
}
ENCRYPTED = {
    "BROKER_URL": "amqps://orders:x@broker:5671/",
    "API_DATABASE_URL": "postgresql://api:x@db:5432/campus_orders?sslmode=verify-full",
    "SERVICE_DATABASE_URL": "postgresql://service:x@127.0.0.1:5432/campus_orders",
    "JWKS_URL": "https://identity:8443/.well-known/jwks.json",
    "GATEWAY_API_URL": "https://api.paystack.co",
    "ENVIRONMENT": "production",
}


@pytest.mark.parametrize("name", PLAIN)
def test_production_does_not_start_with_plain_traffic_between_machines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert _read(monkeypatch, **ENCRYPTED).environment == "production"
    plain = {**ENCRYPTED, name: PLAIN[name]}
    with pytest.raises(SystemExit):
        _read(monkeypatch, **plain)
    error = capsys.readouterr().err
    assert name in error
    assert "NETWORK_ENCRYPTED" in error
    assert ":x@" not in error
    assert _read(monkeypatch, **plain, NETWORK_ENCRYPTED="true").environment == "production"


def test_gateway_of_another_cell_is_reached_encrypted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = '[{"name": "lagos", "url": "http://lagos:8080"}, {"name": "ibadan", "url": "%s://ibadan:8080"}]'
    cell = {**ENCRYPTED, "CELL": "lagos"}
    assert _read(monkeypatch, **cell, CELLS=cells % "https").all_cells
    with pytest.raises(SystemExit):
        _read(monkeypatch, **cell, CELLS=cells % "http")
    assert "CELLS, ibadan: traffic to another machine without verified TLS" in capsys.readouterr().err


def test_authorities_that_an_address_names_are_read_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _read(monkeypatch, **ENCRYPTED | {"BROKER_URL": "amqps://orders:x@broker:5671/?cafile=/nowhere/ca.pem"})
    error = capsys.readouterr().err
    assert "BROKER_URL: /nowhere/ca.pem cannot be read: No such file or directory" in error
    assert ":x@" not in error


@pytest.mark.parametrize(
    ("url", "is_plain"),
    [
        ("amqps://orders:x@broker:5671/?cafile=/etc/campus/ca.pem", False),
        ("amqps://orders:x@broker:5671/?no_verify_ssl=1", True),
        ("postgresql://api:x@db/campus?sslmode=verify-full&sslrootcert=/etc/campus/ca.pem", False),
        ("postgresql://api:x@db/campus?sslmode=verify-ca", True),
        ("postgresql:///campus?host=/var/run/postgresql", False),
        ("postgresql://api:x@127.0.0.1/campus", False),
        ("postgresql://api:x@[::1]/campus", False),
        ("unix:///run/valkey.sock", False),
        ("redis://valkey:6379/0", True),
        ("rediss://valkey:6379/0", False),
        ("rediss://valkey:6379/0?ssl_cert_reqs=none", True),
        ("https://orders:8443", False),
        ("http://localhost:8002", False),
        ("http://orders:8080", True),
        ("", False),
    ],
)
def test_an_address_of_another_machine_is_plain_without_verified_tls(url: str, is_plain: bool) -> None:
    assert is_plain_address(url) is is_plain
