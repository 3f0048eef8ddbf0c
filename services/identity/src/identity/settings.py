"""What the identity service is told by its environment."""

from collections.abc import Mapping
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from common.primitives.encryption import FurtherKey, PurposeKey
from common.process.settings import ServiceSettings


class Settings(ServiceSettings):
    """The service's own variables. Demo and bootstrap secrets may be absent: then there is nothing of that kind."""

    credentials_key: PurposeKey = Field(
        description="Encrypts TOTP secrets, signing keys and the hash key at rest; a wrong one stops the start"
    )
    credentials_key_previous: FurtherKey = ""
    code_delivery_key: PurposeKey = Field(
        description="Encrypts one-time codes and their addresses for notifications, which has the same value"
    )
    code_delivery_key_previous: FurtherKey = ""
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own; empty after its rotation",
    )
    sealing_key_previous: FurtherKey = ""
    referral_reward_minor: int = Field(default=50_000, ge=0)
    passkey_rp_id: str = ""
    passkey_origins: Annotated[tuple[str, ...], NoDecode] = ()
    bootstrap_admin_email: str = ""
    bootstrap_admin_password: str = ""
    demo_password: str = ""
    demo_totp_vendor: str = ""
    demo_totp_vendor2: str = ""
    demo_totp_hub: str = ""
    demo_totp_support: str = ""
    demo_totp_campus: str = ""
    demo_totp_maker: str = ""
    demo_totp_checker: str = ""
    demo_totp_ops: str = ""
    demo_totp_auditor: str = ""
    demo_totp_admin: str = ""

    @field_validator("passkey_origins", mode="before")
    @classmethod
    def split_passkey_origins(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())

    @model_validator(mode="after")
    def passkeys_belong_to_their_site(self) -> Self:
        """A browser would refuse every other origin; a setting that can never work stops the start."""
        for origin in self.relying_origins:
            host = urlsplit(origin).hostname or ""
            is_ours = host == self.relying_party_id or host.endswith(f".{self.relying_party_id}")
            if not origin.startswith("android:apk-key-hash:") and (origin != _origin_of(origin) or not is_ours):
                raise ValueError(f"PASSKEY_ORIGINS: {origin} is no origin of {self.relying_party_id}")
        return self

    @property
    def relying_party_id(self) -> str:
        """The domain that passkeys are bound to: the host of BASE_URL unless PASSKEY_RP_ID names another."""
        return self.passkey_rp_id or urlsplit(self.base_url).hostname or ""

    @property
    def relying_origins(self) -> tuple[str, ...]:
        """Where passkeys may be used: the origin of BASE_URL unless PASSKEY_ORIGINS names others."""
        return self.passkey_origins or (_origin_of(self.base_url),)

    @property
    def demo_totp_by_name(self) -> Mapping[str, str]:
        """The TOTP secrets (base32) of the demo accounts that have one, by the name that stands in secrets.env."""
        prefix = "demo_totp_"
        named = {
            name.removeprefix(prefix).upper(): getattr(self, name)
            for name in Settings.model_fields
            if name.startswith(prefix)
        }
        return {name: secret for name, secret in named.items() if secret}


def _origin_of(url: str) -> str:
    """The origin as a browser writes it: a default port is left out."""
    parts = urlsplit(url)
    port = None if parts.port == {"http": 80, "https": 443}.get(parts.scheme) else parts.port
    return f"{parts.scheme}://{parts.hostname}" + (f":{port}" if port else "")
