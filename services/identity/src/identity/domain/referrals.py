"""Whether a referral token earns the new user the reward: judged once, when the profile is created (contract section 10)."""

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
    """The new user is credited, and the referrer counts one more."""

    referrer_id: UUID


@dataclass(frozen=True, slots=True)
class NotRewarded:
    """No reward. `reason` is None when no token was given."""

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
    """One mailbox is one person: another spelling of one's own address, or a second account, earns nothing.

    An address that is not plain (quoted, in another script, with a comment) may spell a mailbox in a way that cannot be
    compared.
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
    """A profile that exists, with what became of its referral token. The reward is in kobo."""

    id: UUID
    campus_id: UUID | None
    applied: bool
    reward_minor: int
    reason: str | None
