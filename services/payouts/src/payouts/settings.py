"""What the payouts service is told by its environment."""

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from common.primitives.encryption import FurtherKey, PurposeKey
from common.primitives.money import AMOUNT_MINOR_MAX
from common.primitives.signatures import VerifyKeys
from common.process.settings import HttpAddress, ServiceSettings


def _split(value: object) -> object:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


class Settings(ServiceSettings):
    """The common settings, and the payment gateway through which money leaves."""

    gateway_api_url: HttpAddress
    gateway_secret_key: str = Field(min_length=1)
    account_number_key: PurposeKey = Field(
        description="Encrypts the vendors' account numbers and the hash key at rest; a wrong one stops the start"
    )
    account_number_key_previous: FurtherKey = ""
    sealing_key: FurtherKey = Field(
        default="",
        description="The key that all services shared before each purpose had its own; empty after its rotation",
    )
    sealing_key_previous: FurtherKey = ""
    # Whose signature under a release is believed. Two during a rotation: the next key here first, then payments gets its private half.
    release_verify_keys: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(VerifyKeys.check)
    ] = Field(description="Ed25519 public keys of `RELEASE_SIGNING_KEY`, comma list: 32 bytes each in base64url")
    # How long payouts to changed bank details wait, so that their owner hears of a change that was not theirs.
    bank_details_cooling_seconds: int = Field(default=86_400, ge=0)
    # The smallest payout that a vendor may ask for, in kobo. One kobo is no minimum.
    payout_minimum_minor: int = Field(default=1, ge=1, le=AMOUNT_MINOR_MAX)
    # A call that takes longer counts as unanswered, in seconds. Four of them stay below the dispatcher's lease.
    gateway_timeout_seconds: float = Field(default=15.0, gt=0, le=20)
    payout_observation_window_seconds: int = Field(
        default=3600, ge=60, le=604_800, description="over which while the rate of failing payouts is observed"
    )
    payout_observation_attempts_min: int = Field(
        default=1, ge=1, description="over fewer attempts no rate is alarming; 1 takes the specification by its word"
    )
    payout_observation_calm_seconds: int = Field(
        default=600, ge=0, description="how long the rate must stay below 3 % before its alert clears"
    )

    @property
    def observation_window(self) -> timedelta:
        return timedelta(seconds=self.payout_observation_window_seconds)

    skipped_payouts_keep_days: int = Field(
        default=365, ge=31, description="Why a schedule asked for no payout in a period"
    )

    # How long the attempt after the first reset of a payout waits; twice as long after each further one.
    payout_retry_seconds: float = Field(default=60.0, gt=0)
