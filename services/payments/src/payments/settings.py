"""What the payments service is told by its environment."""

from typing import Annotated

from pydantic import AfterValidator, Field

from common.primitives.signatures import SigningKey
from common.process.settings import HttpAddress, Origins, ServiceSettings


class Settings(ServiceSettings):
    """The payment gateway's address and secrets, and the origins that a payer may be sent back to."""

    gateway_api_url: HttpAddress
    gateway_secret_key: str = ""
    gateway_secret_key_previous: str = ""
    allowed_origins: Origins = Field(
        default=(),
        description="Origins that `callbackUrl` may lead to, for instance `https://shop.example`, or `http://localhost:*` for any "
        "port of this machine; the gateway's setting of the same name decides which pages may call the API",
    )
    # Only payments has it: with it whoever else could write that a vendor was paid. Its public half is payouts' RELEASE_VERIFY_KEYS.
    release_signing_key: Annotated[str, AfterValidator(SigningKey.check)] = Field(
        description="Ed25519 private key that signs what was released to vendors: 32 bytes in base64url"
    )
    charge_surcharge_max_basis_points: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Of the principal: what a payer may pay on top of it, 10,000 kobo beside it; what exceeds that is owed back",
    )
    charge_surcharge_max_minor: int = Field(
        default=200_000, ge=0, description="The most that a payer may pay on top of the principal, in kobo"
    )
    webhooks_keep_days: int = Field(
        default=90,
        ge=7,
        description="Webhooks that are done with, and their bodies; longer than the gateway sends again",
    )

    @property
    def webhook_secrets(self) -> tuple[str, ...]:
        """Both valid while a rotation runs; none means that every webhook is refused (contract section 9)."""
        return tuple(key for key in (self.gateway_secret_key, self.gateway_secret_key_previous) if key)
