"""Settings of the payouts service, read from its environment."""

from datetime import date, timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from common.primitives.encryption import FurtherKey, PurposeKey
from common.primitives.money import AMOUNT_MINOR_MAX
from common.primitives.signatures import VerifyKeys
from common.process.settings import ServiceSettings
from payouts.domain.transfer_fees import FeeSchedule
from providers.settings import GatewaySettings


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _check_fees(value: str) -> str:
    FeeSchedule.parse(value)
    return value


class Settings(GatewaySettings, ServiceSettings):
    """The common settings, and those of the payment gateway's outgoing side."""

    gateway_secret_key: str = Field(
        min_length=1, description="Secret key of our account at the payment gateway", examples=["sk_live_..."]
    )
    account_number_key: PurposeKey = Field(
        description="Encrypts the vendors' account numbers and the hash key at rest; a wrong key stops the start",
        examples=["the output of `openssl rand -base64 32`"],
    )
    account_number_key_previous: FurtherKey = Field(
        default="",
        description="The value of `ACCOUNT_NUMBER_KEY` before its rotation; empty otherwise",
        examples=["the former key"],
    )
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own; empty after its rotation",
        examples=["the former key"],
    )
    sealing_key_previous: FurtherKey = Field(
        default="",
        description="The value of `SEALING_KEY` before its last rotation; empty otherwise",
        examples=["the former key"],
    )
    release_verify_keys: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(VerifyKeys.check)
    ] = Field(
        description="Ed25519 public keys that verify payments' statements, comma list, 32 bytes each in base64url; "
        "during a rotation of `RELEASE_SIGNING_KEY` the next key is added here first",
        examples=["A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"],
    )
    bank_details_cooling_seconds: int = Field(
        default=86_400,
        ge=0,
        description=(
            "Wait of payouts to changed bank details, in seconds, so that the owner can notice a foreign change"
        ),
        examples=[86_400],
    )
    payout_minimum_minor: int = Field(
        default=1,
        ge=1,
        le=AMOUNT_MINOR_MAX,
        description="The smallest payout that a vendor may request, in kobo",
        examples=[100_000],
    )
    dispatch_two_person_minor: int = Field(
        default=50_000_000,
        ge=0,
        le=AMOUNT_MINOR_MAX,
        description="The largest payout run that one person sends, in kobo; a second person approves a larger one",
        examples=[50_000_000],
    )
    payout_transfer_minimum_minor: int = Field(
        default=10_000,
        ge=1,
        le=AMOUNT_MINOR_MAX,
        description="The smallest transfer that the payment gateway sends, in kobo; no payout may be smaller",
        examples=[10_000],
    )
    payout_transfer_fees: Annotated[str, AfterValidator(_check_fees)] = Field(
        default="500000:1000,5000000:2500,*:5000",
        description="The payment gateway's fees of transfers, which its balance must cover too; written as "
        "`<up to>:<fee>` in kobo, an ascending comma list, `*` for any amount",
        examples=["500000:1000,5000000:2500,*:5000"],
    )
    flutterwave_transfer_fees: Annotated[str, AfterValidator(_check_fees)] = Field(
        default="500000:1075,5000000:2688,*:5375",
        description="Flutterwave's fees of transfers with tax; written as PAYOUT_TRANSFER_FEES",
        examples=["500000:1075,5000000:2688,*:5375"],
    )
    payout_send_bank_days: int = Field(
        default=1,
        ge=0,
        le=30,
        description="Bank days after its request within which finance sends a payout, for the day that vendors see",
        examples=[1],
    )
    payout_transfer_bank_days: int = Field(
        default=1,
        ge=0,
        le=30,
        description="Bank days after a transfer within which the payment gateway has the vendor's bank credit it, for "
        "the day that vendors see",
        examples=[1],
    )
    payout_bank_holidays: Annotated[tuple[date, ...], NoDecode, BeforeValidator(_split)] = Field(
        default=(),
        description="Further days on which banks are closed, comma list: the holidays that the government declares for "
        "each year. Weekends, holidays of a fixed date and Easter are known",
        examples=["2027-03-10,2027-03-11"],
    )
    gateway_timeout_seconds: float = Field(
        default=15.0,
        gt=0,
        le=20,
        description=(
            "Longest time of a call to the payment gateway, in seconds; four calls must be shorter than the "
            "lease of 90 s"
        ),
        examples=[15.0],
    )
    payout_observation_window_seconds: int = Field(
        default=3600,
        ge=60,
        le=604_800,
        description="Window of the rate of failing payouts, in seconds",
        examples=[3600],
    )
    payout_observation_attempts_min: int = Field(
        default=1,
        ge=1,
        description=(
            "Fewest attempts in the window that can raise the alert of the failure rate; 1 is the "
            "specification's literal rule"
        ),
        examples=[20],
    )
    payout_observation_calm_seconds: int = Field(
        default=600,
        ge=0,
        description="Time that the failure rate must stay below 3 % before its alert clears, in seconds",
        examples=[600],
    )
    skipped_payouts_keep_days: int = Field(
        default=365,
        ge=31,
        description="Retention of the reasons why scheduled payouts were skipped, in days",
        examples=[365],
    )
    payout_retry_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Wait of the attempt after a payout's first reset, in seconds; doubled after each further reset",
        examples=[60.0],
    )

    @property
    def observation_window(self) -> timedelta:
        return timedelta(seconds=self.payout_observation_window_seconds)
