"""The settings of the console."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from common.primitives.encryption import FurtherKey, PurposeKey
from common.process.settings import HttpAddress, read_settings


def _without_slash(address: str) -> str:
    return address.rstrip("/")


class Settings(BaseSettings):
    """Addresses and the key of the session cookie. There is no database, no broker and no service key."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    host: str = Field(default="127.0.0.1", description="Address on which the process listens", examples=["10.0.0.5"])
    port: int = Field(ge=1, le=65535, description="TCP port on which the process listens", examples=[8080])
    metrics_port: int = Field(ge=1, le=65535, description="TCP port of health and metrics", examples=[9090])
    log_level: str = Field(default="INFO", description="Lowest level of log records written", examples=["WARNING"])
    base_url: Annotated[HttpAddress, AfterValidator(_without_slash)] = Field(
        default="http://localhost:8080",
        description="Public origin of the API: the browser loads product images from it",
        examples=["https://api.campus.example"],
    )
    api_url: Annotated[str, Field(pattern="^(https?://[^/\\s]+)?$")] = Field(
        default="",
        description="Origin at which the console calls the gateway; empty: BASE_URL",
        examples=["http://api-gateway-api:8080"],
    )
    api_source_address: str = Field(
        default="",
        pattern="^[0-9a-fA-F.:]*$",
        description="Local address from which the console calls the gateway, so that `TRUSTED_PROXIES` can name it; "
        "empty: the system's choice",
        examples=["127.0.0.2"],
    )
    console_url: Annotated[HttpAddress, AfterValidator(_without_slash)] = Field(
        default="http://localhost:8120",
        description="Public origin of the console: its forms are accepted from there, whichever `Host` a proxy writes; "
        "https makes its cookie Secure",
        examples=["https://console.campus.example"],
    )
    console_key: PurposeKey = Field(
        description=(
            "Secret that encrypts session cookies and held forms, at least 16 characters, the same in all replicas"
        ),
        examples=["q8Rm2ZtV6yLw0sKd"],
    )
    console_key_previous: FurtherKey = Field(
        default="",
        description="The other CONSOLE_KEY of a rotation; cookies under it stay valid",
        examples=["h3Xc9PbN5uTe1oGf"],
    )
    shutdown_drain_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Seconds after the shutdown signal in which new requests are accepted",
        examples=[5],
    )

    @property
    def api_address(self) -> str:
        """The origin of the gateway's API, as the console reaches it."""
        return self.api_url or self.base_url

    @property
    def is_secure(self) -> bool:
        """Return whether browsers reach the console over TLS."""
        return self.console_url.startswith("https:")

    @classmethod
    def from_environment(cls) -> Self:
        """Return the settings, or exit and name every missing and every invalid variable."""
        return read_settings(cls)
