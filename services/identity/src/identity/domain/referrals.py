"""Decide the reward of a referral token, evaluated once when the profile is created (contract section 10)."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

Reason = Literal["unknown_token", "own_token", "mailbox_known", "unusual_address"]


@dataclass(frozen=True, slots=True)
class Referrer:
    """The owner of a referral token."""

    id: UUID
    mailbox: str


@dataclass(frozen=True, slots=True)
class Rewarded:
    """The new user gets the reward, and the referrer's count increases."""

    referrer_id: UUID


@dataclass(frozen=True, slots=True)
class NotRewarded:
    """No reward. `reason` is None without a token."""

    reason: Reason | None = None


def evaluate_referral(
    user_id: UUID,
    mailbox: str,
    *,
    token_given: bool,
    referrer: Referrer | None,
    mailbox_known: bool,
    address_is_plain: bool = True,
) -> Rewarded | NotRewarded:
    """Reward each mailbox once: another spelling of one's own address, or a second account, earns nothing.

    An address that is not plain (quoted, another script, a comment) cannot be compared with other spellings.
    """
    if not token_given:
        return NotRewarded()
    if referrer is None:
        return NotRewarded("unknown_token")
    if referrer.id == user_id or referrer.mailbox == mailbox:
        return NotRewarded("own_token")
    if not address_is_plain:
        return NotRewarded("unusual_address")
    if mailbox_known:
        return NotRewarded("mailbox_known")
    return Rewarded(referrer.id)


@dataclass(frozen=True, slots=True)
class Provisioned:
    """An existing profile with the outcome of its referral token. The reward is in kobo."""

    id: UUID
    campus_id: UUID | None
    applied: bool
    reward_minor: int
    reason: Reason | None
    email_confirmed: bool

    @property
    def pending(self) -> bool:
        """Return whether the reward waits for the proof of the address."""
        return self.reward_minor > 0 and not self.email_confirmed
