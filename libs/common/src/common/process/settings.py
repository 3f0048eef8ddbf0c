"""Configuration by environment variables: one frozen model per service. All problems are reported at once."""

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode

from common.auth.issuers import TrustedIssuer, check_issuers_together, read_trusted_issuers
from common.primitives.cells import Cell, Cells
from common.primitives.inside_addresses import INSIDE_ADDRESSES
from common.primitives.provider_addresses import PROVIDER_ADDRESSES, is_of_development
from common.primitives.retry import DELAYS_SECONDS, RetryLadder
from common.primitives.shared_addresses import SHARED_FACTOR, Network, SharedAddresses
from common.primitives.web_origins import HttpAddress
from common.process.process_settings import ProcessSettings

# One day. A longer delay would hide a failure that belongs into the dead letters.
RETRY_SECONDS_MAX = 86_400


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


# Hosts of this machine alone: no other machine can serve a page there, on any port.
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


def _with_port(origin: str) -> str:
    """Return the origin with a number in place of a `*` port, which only hosts of this machine may have."""
    host, _, port = origin.removesuffix("/").rpartition(":")
    return f"{host}:1" if port == "*" and host.partition("//")[2].lower() in _LOOPBACK_HOSTS else origin


def _normalized_origins(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        parts = urlsplit(_with_port(origin))
        is_origin = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc and parts.port != 0
        is_origin = is_origin and "*" not in parts.netloc
        if not is_origin or parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError(
                f"{origin} is not an origin; write https://shop.example, or http://localhost:* for any port of "
                "this machine"
            )
    return tuple(origin.rstrip("/").lower() for origin in origins)


def _lowercase(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


# A header with a webhook's signature or hash. No other header can be named: one that names the caller stays the edge's
# own.
SignatureHeader = Annotated[str, BeforeValidator(_lowercase), Field(pattern="^[a-z][a-z0-9-]*-(signature|hash)$")]
SIGNATURE_HEADER_DEFAULT = "x-gateway-signature"

# A comma list of origins of web pages. An invalid origin stops the start. The port `*` means any port.
Origins = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_normalized_origins)]
# A comma list of networks in CIDR notation, or of addresses.
Networks = Annotated[tuple[Network, ...], NoDecode, BeforeValidator(_split)]
# A comma list of ISO 3166 codes.
Countries = Annotated[tuple[Annotated[str, Field(pattern="^[A-Z]{2}$")], ...], NoDecode, BeforeValidator(_split)]


class ServiceSettings(ProcessSettings):
    """The variables of every service. A service's own `Settings` adds its own."""

    base_url: Annotated[HttpAddress, AfterValidator(lambda address: address.rstrip("/"))] = Field(
        default="http://localhost:8080",
        description="Public origin of the API: links start with it, and our tokens name it as their issuer",
        examples=["https://api.campus.example"],
    )
    jwks_url: HttpAddress = Field(
        description="Address of the public keys that verify our tokens",
        examples=["http://identity:8081/.well-known/jwks.json"],
    )
    identity_url: str = Field(
        default="",
        description=(
            "Origin of the identity service, for the roles behind a trusted issuer's token; empty: the origin "
            "of JWKS_URL"
        ),
        examples=["http://identity:8081"],
    )
    trusted_issuers: Annotated[tuple[TrustedIssuer, ...], NoDecode] = Field(
        default=(),
        description="JSON list of `{issuer, jwksUrl or secret, audience, algorithms, primary, allowStaffRoles, "
        "emailVerifiedClaim, claims}`",
        examples=[
            '[{"issuer": "https://login.example", "audience": "campus", "algorithms": ["ES256"], '
            '"jwksUrl": "https://login.example/jwks.json"}]'
        ],
    )
    api_database_url: str = Field(
        pattern="^postgres(ql)?(\\+asyncpg)?://",
        description="Database of the service, with the role that row policies limit",
        examples=["postgresql://campus_orders_api:secret@db:5432/campus_orders"],
    )
    service_database_url: str = Field(
        pattern="^postgres(ql)?(\\+asyncpg)?://",
        description="The same database, with the role of consumers, timers and functions",
        examples=["postgresql://campus_orders_service:secret@db:5432/campus_orders"],
    )
    broker_url: str = Field(
        pattern="^amqps?://",
        description="RabbitMQ, with the service's own account",
        examples=["amqps://orders:secret@broker:5671/campus"],
    )
    broker_verified_publishers: bool = Field(
        default=True,
        description="Accept only messages whose publisher's account the broker validated (`user_id`); `make run` also "
        "accepts an "
        "operator's messages",
        examples=[False],
    )
    cursor_key: str = Field(
        min_length=16,
        description="Secret that signs list cursors, at least 16 characters, the same in all processes of a service",
        examples=["2Jx0c1W3sQ9rT7yB"],
    )
    service_role_key: str = Field(
        default="",
        description="Secret that callers of the functions present as Bearer token; empty: no call is accepted",
        examples=["k3Vb8nQ1zX6mP0sD"],
    )
    service_role_key_previous: str = Field(
        default="", description="The former SERVICE_ROLE_KEY, accepted during a rotation", examples=["w9Yt4hR2cL7fG5jA"]
    )
    cell: str = Field(
        default="", description="The name of this cell in CELLS; empty: there are no cells", examples=["lagos"]
    )
    cells: Annotated[tuple[Cell, ...], NoDecode] = Field(
        default=(),
        validate_default=True,
        description="JSON list of all cells `{name, url, campuses, domains}`: the address of its gateway inside the "
        "network, the ids of "
        "its campuses, the mail domains of their users. The first cell has what no other names",
        examples=[
            '[{"name": "lagos", "url": "http://lagos-gateway:8080"}, {"name": "ibadan", "url": '
            '"http://ibadan-gateway:8080", '
            '"campuses": ["0192f0c1-7b1e-7cc0-8b30-3a1f3f6f0002"], "domains": ["ui.edu.ng"]}]'
        ],
    )
    retry_delays_seconds: Annotated[tuple[float, ...], NoDecode] = Field(
        default=DELAYS_SECONDS,
        description="Seconds between the attempts to handle a message, comma list; the dead letter follows the last",
        examples=["1,5,25,125,600"],
    )
    outbox_keep_days: int = Field(
        default=7, ge=1, description="Days for which published messages are kept", examples=[14]
    )
    inbox_keep_days: int = Field(
        default=28,
        ge=7,
        description=(
            "Days for which handled messages are remembered; at least OUTBOX_KEEP_DAYS and the age of the "
            "oldest usable backup"
        ),
        examples=[56],
    )
    dead_letters_keep_days: int = Field(
        default=90, ge=1, description="Days for which dead letters are kept after their replay", examples=[180]
    )
    unresolved_dead_letters_keep_days: int = Field(
        default=180,
        ge=30,
        description=(
            "Days after which a dead letter without replay or closure is closed and its message removed. One that "
            "concerns money stays"
        ),
        examples=[365],
    )

    @field_validator("retry_delays_seconds", mode="before")
    @classmethod
    def split_delays(cls, value: object) -> object:
        return tuple(float(part) for part in value.split(",")) if isinstance(value, str) else value

    @field_validator("retry_delays_seconds")
    @classmethod
    def check_delays(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 < seconds <= RETRY_SECONDS_MAX for seconds in value):
            raise ValueError(f"each delay is more than 0 and at most {RETRY_SECONDS_MAX} seconds")
        return value

    @field_validator("cells", mode="before")
    @classmethod
    def read_cells(cls, value: object) -> object:
        return json.loads(value) if isinstance(value, str) else value

    @field_validator("cells")
    @classmethod
    def check_cells(cls, value: tuple[Cell, ...], context: ValidationInfo) -> tuple[Cell, ...]:
        Cells.of(context.data.get("cell", ""), value)
        return value

    @property
    def all_cells(self) -> Cells | None:
        """The cells; None when there is only this system."""
        return Cells.of(self.cell, self.cells)

    @field_validator("trusted_issuers", mode="before")
    @classmethod
    def read_issuers(cls, value: object) -> object:
        return read_trusted_issuers(value) if isinstance(value, str) else value

    @field_validator("trusted_issuers")
    @classmethod
    def check_issuers(cls, value: tuple[TrustedIssuer, ...], context: ValidationInfo) -> tuple[TrustedIssuer, ...]:
        check_issuers_together(value, context.data.get("base_url", ""))
        return value

    @model_validator(mode="after")
    def check_inbox_outlives_outbox(self) -> Self:
        """Return a message that the outbox still holds can be published again, so the inbox must still recognize it."""
        if self.inbox_keep_days < self.outbox_keep_days:
            raise ValueError("INBOX_KEEP_DAYS must not be shorter than OUTBOX_KEEP_DAYS")
        return self

    @model_validator(mode="after")
    def check_provider_addresses(self) -> Self:
        """Reject providers of development in production: money and codes would be lost without an error."""
        if self.environment == "production":
            for name in PROVIDER_ADDRESSES:
                host = urlsplit(getattr(self, name.lower(), "")).hostname
                if host and is_of_development(host):
                    raise ValueError(
                        f"{name}: {host} is this machine, a private network or an example; set the provider's own "
                        "address, as ENVIRONMENT is production"
                    )
        return self

    @property
    def inside_addresses(self) -> Mapping[str, str]:
        """The addresses of servers and services of the own system, and of the gateways of other cells."""
        cells = {f"CELLS, {it.name}": it.url for it in self.cells if it.name != self.cell}
        return {name: getattr(self, name.lower(), "") for name in INSIDE_ADDRESSES} | cells

    @property
    def identity_address(self) -> str:
        """The origin of the identity service."""
        if self.identity_url:
            return self.identity_url
        parts = urlsplit(self.jwks_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def ladder(self) -> RetryLadder:
        return RetryLadder(self.retry_delays_seconds)

    @property
    def service_keys(self) -> tuple[str, ...]:
        return tuple(key for key in (self.service_role_key, self.service_role_key_previous) if key)

    @classmethod
    def from_environment(cls) -> Self:
        """Return the settings, or exits and names every missing and every invalid variable."""
        return read_settings(cls)


class AccessLogSettings(ServiceSettings):
    """The switch of the access log, for the services that write one."""

    access_log_enabled: bool = Field(
        default=True,
        description="Write the access log: a line for each sign-in (identity), each refused call and each write "
        "(gateway), with `log` = `access`. Set it alike for both",
        examples=[False],
    )


class SharedAddressSettings(ServiceSettings):
    """The addresses that many people share, for the services that count by address."""

    rate_shared_addresses: Networks = Field(
        default=(),
        description="Networks whose addresses many people share, such as a campus' NAT, separated by commas: the "
        "ceilings of an "
        "address are multiplied by RATE_SHARED_FACTOR",
        examples=["197.210.64.0/28,2001:db8:17::/48"],
    )
    rate_shared_factor: int = Field(
        default=SHARED_FACTOR,
        ge=1,
        le=1000,
        description="Factor of the ceilings of an address in RATE_SHARED_ADDRESSES",
        examples=[str(SHARED_FACTOR)],
    )

    @property
    def shared_addresses(self) -> SharedAddresses:
        """The multiplier of an address' ceilings."""
        return SharedAddresses(self.rate_shared_addresses, self.rate_shared_factor)


SettingsT = TypeVar("SettingsT", bound=BaseSettings)


def read_settings(model: type[SettingsT]) -> SettingsT:
    """Read `model` from the environment. Exits with status 78 and lists all problems when that fails."""
    try:
        return model()
    except ValidationError as error:
        lines = [
            f"  {'.'.join(str(part) for part in fault['loc']).upper()}: {fault['msg']}" for fault in error.errors()
        ]
        sys.stderr.write(
            "The configuration is not complete:\n" + "\n".join(lines) + "\nSee docs/reference/configuration.md.\n"
        )
        raise SystemExit(78) from None
