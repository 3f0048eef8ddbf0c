"""The state of one run of a plan: its vendor, buyers, orders and payouts, and what happened."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg

from common.primitives.ids import new_id
from contracts.demo import LAGOS
from contracts.identity import CampusChanged, ReferralOutcome, UserProvisioned, VendorApproved
from identity.use_cases.accounts.provision_user import NewUser
from lab.simulation.marketplace import SimulatedMarketplace
from lab.stepped.actions import Facts, create_product, set_bank_details
from lab.stepped.actors import User
from lab.stepped.scenarios.users import sign_up

PRICE_MINOR: Final = 250_000
_LEGAL_NAME: Final = "Simulated Ventures"
_FAILED_REFUNDS: Final = """
SELECT r.id, r.needs_account_at IS NOT NULL AS needs_account FROM refunds r JOIN charges c ON c.id = r.charge_id
WHERE c.reference = ANY ($1) AND r.status = 'failed' ORDER BY r.created_at, r.id
"""
_QUARANTINED: Final = (
    "SELECT id FROM quarantined_charges WHERE reference = ANY ($1) AND status = 'quarantined' ORDER BY id"
)


@dataclass(slots=True)
class OrderRecord:
    """An order of the run, the references of its payments with their opening, and the ids of its decisions."""

    id: str
    buyer: User
    item_id: str
    total_minor: int
    references: list[str] = field(default_factory=list)
    opened_at: dict[str, datetime] = field(default_factory=dict)
    resolutions: list[Facts] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)
    disputes: list[int] = field(default_factory=list)
    refund_transfers: list[str] = field(default_factory=list)

    @property
    def facts(self) -> Facts:
        """Return the arguments of a command about the order."""
        return {"id": self.id}


@dataclass(slots=True)
class Run:
    """One run: `problems` are broken promises that a step saw, `ended_at` the first end of each transfer at the bank.

    `has_lost_transfer`: the webhook of a transfer was lost, which a query finds within seven days.
    """

    market: SimulatedMarketplace
    vendor: User
    vendor_id: UUID
    buyers: tuple[User, ...]
    product_id: str = ""
    orders: dict[int, OrderRecord] = field(default_factory=dict)
    payouts: dict[int, str] = field(default_factory=dict)
    ended_at: dict[str, datetime] = field(default_factory=dict)
    has_lost_transfer: bool = False
    problems: list[str] = field(default_factory=list)

    @classmethod
    async def begin(cls, market: SimulatedMarketplace) -> "Run":
        """Return a new vendor with a product and a verified account, and two buyers."""
        vendor_id, owner_id = new_id(), new_id()
        claims = {"roles": ("buyer", "merchant"), "vendor_id": vendor_id, "campus_id": LAGOS.id, "stepped_up": True}
        buyers = tuple(User(new_id(), {"roles": ("buyer",), "campus_id": LAGOS.id}) for _ in range(2))
        run = cls(market, User(owner_id, claims), vendor_id, buyers)
        if market.has_everyone:
            for user_id in (owner_id, *(buyer.id for buyer in buyers)):
                await sign_up(market, _new_user(user_id))
        await market.publish("identity", CampusChanged(campus_id=LAGOS.id, name=LAGOS.name, active=True))
        await market.publish(
            "identity",
            VendorApproved(
                vendor_id=vendor_id,
                owner_user_id=owner_id,
                business_name="Simulated",
                legal_name=_LEGAL_NAME,
                campus_id=LAGOS.id,
            ),
        )
        for buyer in () if market.has_everyone else buyers:
            referral = ReferralOutcome(applied=False, reward_minor=0)
            await market.publish(
                "identity",
                UserProvisioned(
                    user_id=buyer.id, email=address_of(buyer.id), role="buyer", referral=referral, campus_id=LAGOS.id
                ),
            )
        await market.run_until_idle()
        await set_bank_details(market, run.vendor, f"{int(vendor_id) % 10**10:010d}", _LEGAL_NAME)
        run.product_id = await create_product(market, run.vendor, PRICE_MINOR)
        return run

    async def act(self, path: str, body: Facts | None = None) -> str:
        """Let a bank or a payer act at the gateway; returns the HTTP status.

        No two acts are at one instant: the webhooks of two successes of a transfer differ by their times only.
        """
        self.market.clock.advance(timedelta(milliseconds=1))
        return str((await self.market.sandbox.post(f"/control/{path}", json=body or {})).status_code)

    async def states(self) -> dict[int, str]:
        """Return the state of each order."""
        ids = [UUID(order.id) for order in self.orders.values()]
        rows = await self.market.databases["orders"].fetch("SELECT id, status FROM orders WHERE id = ANY ($1)", ids)
        states = {str(row["id"]): str(row["status"]) for row in rows}
        return {number: states[order.id] for number, order in self.orders.items()}

    async def transfers_of(self, payout_id: str) -> list[dict[str, Any]]:
        """Return the gateway's transfers of a payout, oldest first, by the references that our side recorded before
        each call.
        """
        rows = await self.market.databases["payouts"].fetch(
            "SELECT reference FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt", UUID(payout_id)
        )
        found = [await self.market.find_at_gateway(f"transfer/verify/{row['reference']}") for row in rows]
        return [transfer for transfer in found if transfer is not None]

    async def refund_transfers_of(self, order: OrderRecord) -> list[dict[str, Any]]:
        """Return the gateway's transfers of an order's refunds to accounts."""
        found = [await self.market.find_at_gateway(f"transfer/verify/{name}") for name in order.refund_transfers]
        return [transfer for transfer in found if transfer is not None]

    async def failed_refunds_of(self, order: OrderRecord) -> list[asyncpg.Record]:
        """Return the failed refunds of an order's charges, with whether the gateway waits for an account."""
        return list(await self.market.databases["payments"].fetch(_FAILED_REFUNDS, order.references))

    async def quarantined(self) -> list[asyncpg.Record]:
        """Return the quarantined charges of the run."""
        references = [reference for order in self.orders.values() for reference in order.references]
        return list(await self.market.databases["payments"].fetch(_QUARANTINED, references))

    async def refunds_of(self, order: OrderRecord) -> list[dict[str, Any]]:
        """Return the gateway's refunds of an order's charges."""
        found = [await self.market.find_at_gateway(f"refund?reference={reference}") for reference in order.references]
        return [refund for refunds in found for refund in refunds or ()]


def address_of(user_id: UUID) -> str:
    """Return the mail address of a user of a run."""
    return f"{user_id}@unilag.edu.ng"


def phone_of(user_id: UUID) -> str:
    """Return the telephone number of a user of a run."""
    return f"+234803{int(user_id) % 10**7:07d}"


def _new_user(user_id: UUID) -> NewUser:
    return NewUser(user_id, address_of(user_id), phone_of(user_id), "Simulated User", email_confirmed=True)
