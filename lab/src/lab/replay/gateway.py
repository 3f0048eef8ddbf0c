"""The gateway's own record: its lists, and the transfers that it reported as successful. Amounts in kobo."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# A list of the gateway: `listed(path)` returns its newest rows. `sent(event)`: the data of its newest webhooks.
Listed = Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]]
Rows = dict[str, Mapping[str, Any]]

_PAID = ("success", "reversed")
_LOST = ("merchant-accepted", "auto-accepted", "accepted", "lost")


@dataclass(slots=True)
class GatewayRecord:
    """Paid charges by `<reference>/<id>`, refunds by id, transfers by reference, disputes by id.

    A list has its newest thousand rows: `read` after each run, so that none is missed.
    """

    listed: Listed
    sent: Listed
    charges: Rows = field(default_factory=dict)
    refunds: Rows = field(default_factory=dict)
    transfers: Rows = field(default_factory=dict)
    disputes: Rows = field(default_factory=dict)
    # By id of a dispute: the newest report that it is lost, which a later decision may reverse.
    losses: Rows = field(default_factory=dict)
    # By reference: the newest report that a transfer has paid, and that its money has returned.
    succeeded: Rows = field(default_factory=dict)
    returned: Rows = field(default_factory=dict)

    async def read(self) -> None:
        """Read the present lists."""
        for row in await self.listed("transaction"):
            if row["status"] in _PAID:
                self.charges[f"{row['reference']}/{row['id']}"] = row
        self.refunds |= {str(row["id"]): row for row in await self.listed("refund")}
        self.transfers |= {str(row["reference"]): row for row in await self.listed("transfer")}
        self.disputes |= {str(row["id"]): row for row in await self.listed("dispute")}
        decided = [*await self.sent("charge.dispute.resolve"), *self.disputes.values()]
        self.losses |= {str(row["id"]): row for row in decided if _is_loss(row)}
        self.succeeded |= {str(data["reference"]): data for data in await self.sent("transfer.success")}
        for event in ("transfer.failed", "transfer.reversed"):
            self.returned |= {str(data["reference"]): data for data in await self.sent(event)}

    def refunded_minor(self, note: str) -> int:
        """Return what refunds with this note have paid."""
        rows = (row for row in self.refunds.values() if row["merchant_note"] == note and row["status"] == "processed")
        return sum(int(row["amount"]) for row in rows)

    def transferred_minor(self, reference: str) -> int:
        """Return what a transfer of this reference has paid."""
        return int(self.succeeded[reference]["amount"]) if reference in self.succeeded else 0

    def is_lost(self, dispute_id: str) -> bool:
        """Return whether the bank decided the dispute for the payer."""
        return _is_loss(self.disputes[dispute_id])

    def is_won(self, dispute_id: str) -> bool:
        """Return whether the bank decided the dispute for the vendor."""
        dispute = self.disputes.get(dispute_id)
        return dispute is not None and dispute["status"] == "resolved" and not _is_loss(dispute)


def _is_loss(dispute: Mapping[str, Any]) -> bool:
    return dispute["status"] == "resolved" and dispute["resolution"] in _LOST


def charge_of(dispute: Mapping[str, Any]) -> str:
    """Return the identity of the disputed charge."""
    return f"{dispute['transaction']['reference']}/{dispute['transaction']['id']}"
