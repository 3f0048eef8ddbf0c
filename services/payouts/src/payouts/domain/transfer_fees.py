"""Fees of transfers: the gateway's schedule, and when a reported fee enters the ledger. Kobo."""

from dataclasses import dataclass
from typing import Final

from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.transitions import UNDER_WAY

# A tier without an upper bound.
_ANY_AMOUNT: Final = "*"


@dataclass(frozen=True, slots=True)
class FeeTier:
    """The fee of a transfer of at most `up_to_minor`; None: of any amount."""

    up_to_minor: int | None
    fee_minor: int


@dataclass(frozen=True, slots=True)
class FeeSchedule:
    """The tiers of a gateway, in ascending order. An amount above all of them costs the last one's fee."""

    tiers: tuple[FeeTier, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "FeeSchedule":
        """Parse `<up to>:<fee>` pairs in kobo, a comma list that ascends; `*` is any amount. Raises ValueError."""
        tiers = tuple(_tier(part.strip()) for part in text.split(",") if part.strip())
        bounds = [tier.up_to_minor for tier in tiers]
        known = [bound for bound in bounds if bound is not None]
        if any(bound is None for bound in bounds[:-1]) or known != sorted(set(known)):
            raise ValueError("the tiers must ascend, and only the last one may be *")
        return cls(tiers)

    def fee_minor(self, amount_minor: int) -> int:
        """Return the fee of one transfer."""
        for tier in self.tiers:
            if tier.up_to_minor is None or amount_minor <= tier.up_to_minor:
                return tier.fee_minor
        return self.tiers[-1].fee_minor if self.tiers else 0


def _tier(text: str) -> FeeTier:
    bound, _, fee = text.partition(":")
    if not fee.isdecimal() or not (bound.isdecimal() or bound == _ANY_AMOUNT):
        raise ValueError(f"{text!r} is not <up to>:<fee> in kobo")
    return FeeTier(None if bound == _ANY_AMOUNT else int(bound), int(fee))


def fee_to_post(transfer: LockedTransfer, update: TransferUpdate) -> int | None:
    """Return the fee that the ledger must have after this report; None when it stays as it is.

    A fee is posted with the success that reports it. The gateway's response to a query corrects a posted fee, for
    example after a reversal; an older webhook does not.
    """
    if (update.amount_minor, update.currency) != (transfer.amount_minor, transfer.currency):
        return None
    if update.fee_minor is None or update.status in UNDER_WAY or update.fee_minor == transfer.fee_minor:
        return None
    corrects = update.update_source == "query" and transfer.fee_minor is not None
    learns = update.status == "success" and transfer.fee_minor is None
    return update.fee_minor if corrects or learns else None
