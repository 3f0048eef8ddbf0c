"""The settings of the console."""

import ssl
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from common.primitives.encryption import FurtherKey, PurposeKey
from common.primitives.tls import client_tls
from common.primitives.web_origins import HttpAddress
from common.process.process_settings import ProcessSettings
from common.process.settings import read_settings


def _without_slash(address: str) -> str:
    return address.rstrip("/")


class Settings(ProcessSettings):
    """Addresses and the key of the session cookie. There is no database, no broker and no service key."""

    metrics_port: int = Field(ge=1, le=65535, description="TCP port of health and metrics", examples=[9090])
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

    @property
    def api_address(self) -> str:
        """The origin of the gateway's API, as the console reaches it."""
        return self.api_url or self.base_url

    @property
    def inside_addresses(self) -> Mapping[str, str]:
        """The address of the gateway."""
        return {"API_URL": self.api_address}

    @property
    def api_tls(self) -> ssl.SSLContext:
        """The trust of calls to the gateway. BASE_URL is a public address, with a public certificate."""
        return self.inside_tls if self.api_url else client_tls()

    @property
    def is_secure(self) -> bool:
        """Return whether browsers reach the console over TLS."""
        return self.console_url.startswith("https:")

    @classmethod
    def from_environment(cls) -> Self:
        """Return the settings, or exit and name every missing and every invalid variable."""
        return read_settings(cls)
