"""Settlements: the gateway moves our money to our bank account. Amounts in the currency's minor unit.

A settlement of the gateway to our bank is posted from `gateway_cash` to `bank_account` when the ledger has every
charge of it, and alerts finance: with automatic settlement on, the gateway's balance does not cover payouts. `python
-m payments reconcile` prints what was settled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SettlementStatus = Literal["pending", "settled", "failed"]


@dataclass(frozen=True, slots=True)
class Settlement:
    """A settlement as the gateway reported it. `amount_minor` reached the bank: charges less fees and deductions.

    The amount of one that is not settled is 0 when it is not reported.
    """

    id: str
    status: SettlementStatus
    amount_minor: int
    currency: str
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordedSettlement:
    """A settlement in the ledger: the amount that left `gateway_cash`."""

    id: str
    amount_minor: int
    currency: str


def settlement_key(settlement_id: str) -> str:
    """Return the posting key of a settlement."""
    return f"settlement:{settlement_id}"


def unknown_references(listed: Sequence[str], recorded: Sequence[str]) -> list[str]:
    """Return the charges of a settlement that are not in the ledger, in their order."""
    known = set(recorded)
    return [reference for reference in listed if reference not in known]
