"""Assertions on the ledger of the running service."""

import msgspec

from common.primitives.clock import iso
from contracts.payments import ChargeDisputed, EscrowRefunded, EscrowReleased
from testkit.world import World


class LedgerChecks(World):
    """The service with checks of its ledger."""

    async def check_ledger(self) -> None:
        """Transactions sum to zero, balances equal entries, and escrow equals the locked amounts of the orders."""
        unbalanced = await self.fetch(
            "SELECT transaction_id FROM ledger_entries GROUP BY transaction_id HAVING sum(amount_minor) <> 0"
        )
        assert not unbalanced
        drifted = await self.fetch(
            """
            SELECT b.account FROM ledger_balances b LEFT JOIN ledger_entries e ON e.account = b.account
            GROUP BY b.account, b.balance_minor, b.side
            HAVING b.balance_minor <> coalesce(sum(e.amount_minor), 0) * CASE b.side WHEN 'debit' THEN 1 ELSE -1 END
                OR b.balance_minor < 0
            """
        )
        assert not drifted
        drifted_escrows = await self.fetch(
            """
            SELECT e.order_id FROM escrows e LEFT JOIN ledger_balances b ON b.account = 'escrow:' || e.order_id
            WHERE coalesce(b.balance_minor, 0)
                <> e.locked_vendor_minor + e.locked_commission_minor + e.locked_delivery_fee_minor
            """
        )
        assert not drifted_escrows

    async def check_stated_escrows(self) -> None:
        """Check that the last event of each order states its escrow, kobo for kobo."""
        rows = await self.fetch(
            """
            SELECT DISTINCT ON (o.subject) o.payload, e.* FROM outbox o JOIN escrows e ON e.order_id::text = o.subject
            WHERE o.type = ANY ($1) ORDER BY o.subject, o.sequence DESC
            """,
            [event.TYPE for event in (EscrowReleased, EscrowRefunded, ChargeDisputed)],
        )
        for row in rows:
            locked = row["locked_vendor_minor"] + row["locked_commission_minor"] + row["locked_delivery_fee_minor"]
            assert msgspec.json.decode(bytes(row["payload"]))["escrow"] == {
                "heldAt": iso(row["held_at"]),
                "heldMinor": row["held_minor"],
                "lockedMinor": locked,
                "netMinor": row["released_vendor_minor"],
                "commissionMinor": row["released_commission_minor"],
                "deliveryFeeMinor": row["released_delivery_fee_minor"],
            }
