"""The settings of the payments service.

Only payments has `RELEASE_SIGNING_KEY`, an Ed25519 private key that signs each movement of a vendor's money (decision
32); a missing or malformed one stops the start. `GATEWAY_SECRET_KEY` calls the gateway, and it and its previous value
verify webhooks.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from common.primitives.money import AMOUNT_MINOR_MAX
from common.primitives.signatures import SigningKey
from common.process.settings import (
    SIGNATURE_HEADER_DEFAULT,
    Origins,
    ServiceSettings,
    SignatureHeader,
)
from providers.settings import GatewaySettings


class Settings(GatewaySettings, ServiceSettings):
    """The payment gateway's address and secrets, the signing key, and the bounds of payments."""

    gateway_secret_key: str = Field(
        default="",
        description="The secret key that authenticates calls to the gateway and verifies its webhooks; when it and "
        "GATEWAY_SECRET_KEY_PREVIOUS are empty, every webhook gets 401",
        examples=["sk_live_0123456789abcdef"],
    )
    gateway_secret_key_previous: str = Field(
        default="",
        description="The previous secret key, which verifies webhooks during a rotation; it makes no calls",
        examples=["sk_live_fedcba9876543210"],
    )
    gateway_signature_header: SignatureHeader = Field(
        default=SIGNATURE_HEADER_DEFAULT,
        description="The header with the webhook's signature; Paystack's is `x-paystack-signature`. The gateway's "
        "setting of the same name "
        "lets it pass",
        examples=["x-paystack-signature"],
    )
    flutterwave_webhook_hash: str = Field(
        default="",
        description=(
            "The secret hash of Flutterwave's webhooks; when it and FLUTTERWAVE_WEBHOOK_HASH_PREVIOUS are "
            "empty, each gets 401"
        ),
        examples=["c2VjcmV0LWhhc2gtb2Ytd2ViaG9va3M"],
    )
    flutterwave_webhook_hash_previous: str = Field(
        default="",
        description="The previous secret hash, which is accepted during a rotation",
        examples=["b2xkLXNlY3JldC1oYXNoLW9mLXdlYmhvb2tz"],
    )
    flutterwave_return_url: str = Field(
        default="",
        description=(
            "The page that customers of Flutterwave return to when their payment names none; Flutterwave requires one"
        ),
        examples=["https://shop.example/paid"],
    )
    allowed_origins: Origins = Field(
        default=(),
        description="Origins that `callbackUrl` may lead to, for instance `https://shop.example`, or "
        "`http://localhost:*` for any "
        "port of this machine; the gateway's setting of the same name decides which pages may call the API",
        examples=["https://shop.example,http://localhost:*"],
    )
    # Only payments has it, because it authorizes payouts to vendors. Payouts has the public half in
    # RELEASE_VERIFY_KEYS.
    release_signing_key: Annotated[str, AfterValidator(SigningKey.check)] = Field(
        description="The Ed25519 private key that signs the amounts released to vendors: 32 bytes in base64url",
        examples=["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
    )
    charge_surcharge_max_basis_points: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description=(
            "The maximal surcharge of a payer in basis points of the principal, plus 10,000 kobo; a larger "
            "surcharge is refunded"
        ),
        examples=[200],
    )
    charge_surcharge_max_minor: int = Field(
        default=200_000, ge=0, description="The absolute maximum of a payer's surcharge, in kobo", examples=[200_000]
    )
    payout_transfer_minimum_minor: int = Field(
        default=10_000,
        ge=1,
        le=AMOUNT_MINOR_MAX,
        description=(
            "The smallest transfer that the payment gateway sends, in kobo; no smaller refund goes to a bank account"
        ),
        examples=[10_000],
    )
    balance_withdrawal_two_person_minor: int = Field(
        default=5_000_000,
        ge=0,
        le=AMOUNT_MINOR_MAX,
        description="The largest withdrawal from a balance that is sent without two people of finance, in kobo",
        examples=[5_000_000],
    )
    goodwill_order_max_minor: int = Field(
        default=2_000_000,
        ge=0,
        le=AMOUNT_MINOR_MAX,
        description="The most that the platform gives the buyer of one order as goodwill, in kobo; 0 permits none",
        examples=[2_000_000],
    )
    chargeback_alert_before_due_hours: int = Field(
        default=6,
        ge=1,
        le=720,
        description="The hours before the date of a dispute at which a SEV-1 alert is raised when it has no response",
        examples=[6],
    )
    webhooks_keep_days: int = Field(
        default=90,
        ge=7,
        description=(
            "The days that processed webhooks and their bodies are stored; longer than the gateway resends them"
        ),
        examples=[90],
    )

    @property
    def flutterwave_webhook_hashes(self) -> tuple[str, ...]:
        """The secret hashes of Flutterwave's webhooks; none rejects every one."""
        return tuple(key for key in (self.flutterwave_webhook_hash, self.flutterwave_webhook_hash_previous) if key)

    @property
    def webhook_secrets(self) -> tuple[str, ...]:
        """The secrets that verify a webhook, both during a rotation; none rejects every webhook
        (contract section 9).
        """
        return tuple(key for key in (self.gateway_secret_key, self.gateway_secret_key_previous) if key)
