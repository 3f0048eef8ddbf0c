"""Configuration by environment variables: one frozen model for each service, all problems named at once (architecture 6)."""

import sys
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
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from common.auth.issuers import TrustedIssuer, check_issuers_together, read_trusted_issuers
from common.primitives.retry import DELAYS_SECONDS, RetryLadder

# A day: what waits longer is a dead letter for somebody to look at.
RETRY_SECONDS_MAX = 86_400


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


# Hosts of this machine alone: nobody else can serve a page there, whatever its port.
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


def _with_a_port(origin: str) -> str:
    """An origin of this machine whose port is `*`, with a port in its place; every other text as it is."""
    host, _, port = origin.removesuffix("/").rpartition(":")
    return f"{host}:1" if port == "*" and host.partition("//")[2].lower() in _LOOPBACK_HOSTS else origin


def _as_browsers_write(origins: tuple[str, ...]) -> tuple[str, ...]:
    for origin in origins:
        parts = urlsplit(_with_a_port(origin))
        is_origin = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc and parts.port != 0
        is_origin = is_origin and "*" not in parts.netloc
        if not is_origin or parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError(
                f"{origin} is no origin; one is written as https://shop.example, or http://localhost:* for any port of this machine"
            )
    return tuple(origin.rstrip("/").lower() for origin in origins)


# Where a service is reached over HTTP.
HttpAddress = Annotated[str, Field(pattern="^https?://[^/\\s]+")]
# A comma list of origins of web pages. One that no page can ever have stops the start. `*` as a port means any port.
Origins = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_as_browsers_write)]


class ServiceSettings(BaseSettings):
    """What every service is told. A service's own `Settings` adds its own variables."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    host: str = "127.0.0.1"
    port: int = Field(ge=1, le=65535)
    log_level: str = "INFO"
    # Paths are put behind it, and tokens name it as their issuer: it ends without a slash.
    base_url: Annotated[HttpAddress, AfterValidator(lambda address: address.rstrip("/"))] = "http://localhost:8080"
    jwks_url: HttpAddress
    # Where a token of a further issuer is asked about; empty: where JWKS_URL points.
    identity_url: str = ""
    trusted_issuers: Annotated[tuple[TrustedIssuer, ...], NoDecode] = Field(
        default=(),
        description="JSON list of `{issuer, jwksUrl or secret, audience, algorithms, primary, allowStaffRoles, "
        "emailVerifiedClaim, claims}`",
    )
    api_database_url: str = Field(pattern="^postgres(ql)?(\\+asyncpg)?://")
    service_database_url: str = Field(pattern="^postgres(ql)?(\\+asyncpg)?://")
    broker_url: str = Field(pattern="^amqps?://")
    broker_verified_publishers: bool = Field(
        default=True,
        description="Accept only messages whose publisher's account the broker validated (`user_id`); `make run` also accepts an "
        "operator's messages",
    )
    cursor_key: str = Field(min_length=16)
    service_role_key: str = ""
    service_role_key_previous: str = ""
    # After the signal to end requests are still taken this long, each answered as the last one of its connection: whoever sends on a
    # kept connection in the moment in which it is closed loses that request. For several instances behind a balancer.
    shutdown_drain_seconds: float = Field(default=0.0, ge=0)
    retry_delays_seconds: Annotated[tuple[float, ...], NoDecode] = DELAYS_SECONDS
    outbox_keep_days: int = Field(default=7, ge=1, description="Messages, after they were published")
    inbox_keep_days: int = Field(
        default=28,
        ge=7,
        description="That a message was taken; no shorter than OUTBOX_KEEP_DAYS, nor than a backup is used",
    )
    dead_letters_keep_days: int = Field(default=90, ge=1, description="Dead letters, after their replay")

    @field_validator("retry_delays_seconds", mode="before")
    @classmethod
    def split_delays(cls, value: object) -> object:
        return tuple(float(part) for part in value.split(",")) if isinstance(value, str) else value

    @field_validator("retry_delays_seconds")
    @classmethod
    def delays_are_times(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 < seconds <= RETRY_SECONDS_MAX for seconds in value):
            raise ValueError(f"each delay is more than 0 and at most {RETRY_SECONDS_MAX} seconds")
        return value

    @field_validator("trusted_issuers", mode="before")
    @classmethod
    def read_issuers(cls, value: object) -> object:
        return read_trusted_issuers(value) if isinstance(value, str) else value

    @field_validator("trusted_issuers")
    @classmethod
    def issuers_stand_together(
        cls, value: tuple[TrustedIssuer, ...], told: ValidationInfo
    ) -> tuple[TrustedIssuer, ...]:
        check_issuers_together(value, told.data.get("base_url", ""))
        return value

    @model_validator(mode="after")
    def no_message_outlives_its_memory(self) -> Self:
        """What the outbox still holds can be said again: the inbox must still know it."""
        if self.inbox_keep_days < self.outbox_keep_days:
            raise ValueError("INBOX_KEEP_DAYS must not be shorter than OUTBOX_KEEP_DAYS")
        return self

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
        """The settings, or an end of the process that names every missing and every bad variable."""
        return read_settings(cls)


SettingsT = TypeVar("SettingsT", bound=BaseSettings)


def read_settings(model: type[SettingsT]) -> SettingsT:
    """Reads `model` from the environment; ends the process with status 78 and all problems at once when it cannot."""
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
