"""The state of one run of a plan: its vendors, buyers, orders and payouts, and what happened."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

import asyncpg

from common.primitives.ids import new_id
from contracts.demo import LAGOS
from contracts.identity import CampusChanged, HubChanged, ReferralOutcome, UserProvisioned, VendorApproved
from identity.use_cases.accounts.provision_user import NewUser
from lab.simulation.marketplace import SimulatedMarketplace
from lab.stepped.actions import Facts, create_product, set_bank_details
from lab.stepped.actors import User
from lab.stepped.scenarios.users import sign_up

PRICE_MINOR: Final = 250_000
_DELIVERY_FEE_MINOR: Final = 30_001
_REWARD_MINOR: Final = 60_000
_LEGAL_NAME: Final = "Simulated Ventures"
_FAILED_REFUNDS: Final = """
SELECT r.id, r.needs_account_at IS NOT NULL AS needs_account FROM refunds r JOIN charges c ON c.id = r.charge_id
WHERE c.reference = ANY ($1) AND r.status = $2 ORDER BY r.created_at, r.id
"""
_QUARANTINED: Final = (
    "SELECT id FROM quarantined_charges WHERE reference = ANY ($1) AND status = 'quarantined' ORDER BY id"
)
# A payment names the first of its orders, and that of a purchase each of them.
_REFERENCES: Final = """
SELECT DISTINCT r.reference FROM payment_references r JOIN payment_intents i ON i.id = r.intent_id
LEFT JOIN intent_orders named ON named.intent_id = i.id
WHERE i.order_id = ANY ($1) OR named.order_id = ANY ($1) ORDER BY r.reference
"""
_OF_INTENT: Final = "SELECT reference FROM payment_references WHERE intent_id = $1 ORDER BY reference"
# Several transfers into one account are charges of one reference.
_CHARGES: Final = "SELECT id, amount_minor, status FROM transactions WHERE reference = ?"
_REFUNDS: Final = """
SELECT r.id, r.amount_minor, r.status FROM refunds r JOIN transactions t ON t.id = r.transaction_id
WHERE t.reference = ?
"""


@dataclass(slots=True)
class OrderRecord:
    """An order of the run, the references of its payments with their opening, and the ids of its decisions.

    Orders of one purchase have the same payments. `requested_minor`: the amount of each payment in kobo. `accounts`:
    the payments by bank transfer. `seller`: the number of its vendor. `lines`: the ids of its lines.
    """

    id: str
    buyer: User
    lines: tuple[str, ...]
    total_minor: int
    references: list[str] = field(default_factory=list)
    opened_at: dict[str, datetime] = field(default_factory=dict)
    requested_minor: dict[str, int] = field(default_factory=dict)
    accounts: set[str] = field(default_factory=set)
    disputes: list[int] = field(default_factory=list)
    refund_transfers: list[str] = field(default_factory=list)
    purchase_id: str | None = None
    seller: int = 0
    resolutions: list[Facts] = field(default_factory=list)
    returns: list[str] = field(default_factory=list)

    @property
    def item_id(self) -> str:
        return self.lines[0]

    @property
    def facts(self) -> Facts:
        """Return the arguments of a command about the order."""
        return {"id": self.id}


@dataclass(slots=True)
class Run:
    """One run: `problems` are broken promises that a step saw, `ended_at` the first end of each transfer at the bank.

    `has_lost_transfer`: the webhook of a transfer was lost, which a query finds within seven days. `products`: one of
    each vendor; `further_product`: another one of the first vendor. `agent` receives parcels at the hub.
    """

    market: SimulatedMarketplace
    vendors: tuple[User, ...]
    buyers: tuple[User, ...]
    agent: User
    products: tuple[str, ...] = ()
    further_product: str = ""
    orders: dict[int, OrderRecord] = field(default_factory=dict)
    payouts: dict[int, str] = field(default_factory=dict)
    ended_at: dict[str, datetime] = field(default_factory=dict)
    has_lost_transfer: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def vendor(self) -> User:
        """Return the vendor of all payouts, and of the orders outside purchases."""
        return self.vendors[0]

    @classmethod
    async def begin(cls, market: SimulatedMarketplace) -> "Run":
        """Return two new vendors, each with a product and a verified account, and two buyers, one with a reward."""
        buyers = tuple(
            User(new_id(), {"roles": ("buyer",), "campus_id": LAGOS.id, "stepped_up": True}) for _ in range(2)
        )
        run = cls(market, tuple(_new_vendor() for _ in range(2)), buyers, _new_agent())
        if market.has_everyone:
            for user in (*run.vendors, *buyers):
                await sign_up(market, _new_user(user.id))
        await market.publish("identity", CampusChanged(campus_id=LAGOS.id, name=LAGOS.name, active=True))
        await market.publish(
            "identity",
            HubChanged(
                hub_id=run.agent.claims["hub_id"],
                campus_id=LAGOS.id,
                name="Gate",
                delivery_fee_minor=_DELIVERY_FEE_MINOR,
                active=True,
            ),
        )
        for vendor in run.vendors:
            await market.publish(
                "identity",
                VendorApproved(
                    vendor_id=vendor.claims["vendor_id"],
                    owner_user_id=vendor.id,
                    business_name="Simulated",
                    legal_name=_LEGAL_NAME,
                    campus_id=LAGOS.id,
                ),
            )
        for buyer, reward_minor in () if market.has_everyone else zip(buyers, (0, _REWARD_MINOR), strict=True):
            referral = ReferralOutcome(applied=reward_minor > 0, reward_minor=reward_minor)
            await market.publish(
                "identity",
                UserProvisioned(
                    user_id=buyer.id,
                    email=address_of(buyer.id),
                    role="buyer",
                    referral=referral,
                    campus_id=LAGOS.id,
                    email_confirmed=True,
                ),
            )
        await market.run_until_idle()
        for vendor in run.vendors:
            account_number = f"{int(vendor.claims['vendor_id']) % 10**10:010d}"
            await set_bank_details(market, vendor, account_number, _LEGAL_NAME)
        run.products = tuple([await create_product(market, vendor, PRICE_MINOR) for vendor in run.vendors])
        run.further_product = await create_product(market, run.vendor, PRICE_MINOR // 2 + 1)
        return run

    async def act(self, path: str, body: Facts | None = None) -> str:
        """Let a bank or a payer act at the gateway; returns the HTTP status.

        No two acts are at one instant: the webhooks of two successes of a transfer differ by their times only.
        """
        self.market.clock.advance(timedelta(milliseconds=1))
        return str((await self.market.sandbox.client.post(f"/control/{path}", json=body or {})).status_code)

    async def states(self) -> dict[int, str]:
        """Return the state of each order."""
        ids = [UUID(order.id) for order in self.orders.values()]
        rows = await self.market.databases["orders"].fetch("SELECT id, status FROM orders WHERE id = ANY ($1)", ids)
        states = {str(row["id"]): str(row["status"]) for row in rows}
        return {number: states[order.id] for number, order in self.orders.items()}

    async def transfers_of(self, payout_id: str) -> list[dict[str, Any]]:
        """Return the gateway's transfers of a payout, oldest first, by the references recorded before each call."""
        rows = await self.market.databases["payouts"].fetch(
            "SELECT reference FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt", UUID(payout_id)
        )
        found = [await self.market.sandbox.find(f"transfer/verify/{row['reference']}") for row in rows]
        return [transfer for transfer in found if transfer is not None]

    async def refund_transfers_of(self, order: OrderRecord) -> list[dict[str, Any]]:
        """Return the gateway's transfers of an order's refunds to accounts."""
        found = [await self.market.sandbox.find(f"transfer/verify/{name}") for name in order.refund_transfers]
        return [transfer for transfer in found if transfer is not None]

    async def failed_refunds_of(
        self, order: OrderRecord, status: Literal["failed", "prepared"] = "failed"
    ) -> list[asyncpg.Record]:
        """Return the failed refunds of an order's charges, with whether the gateway waits for an account: without a
        decision, or with a prepared one.
        """
        references = await self.references_of(order)
        return list(await self.market.databases["payments"].fetch(_FAILED_REFUNDS, references, status))

    async def quarantined(self) -> list[asyncpg.Record]:
        """Return the quarantined charges of the run."""
        references = await self.references_of(*self.orders.values())
        return list(await self.market.databases["payments"].fetch(_QUARANTINED, references))

    async def references_of(self, *orders: OrderRecord) -> list[str]:
        """Return the references of all payments of these orders, also of those that a dead process opened."""
        ids = [UUID(order.id) for order in orders]
        rows = await self.market.databases["payments"].fetch(_REFERENCES, ids)
        return [str(row["reference"]) for row in rows]

    async def references_of_intent(self, intent_id: str) -> list[str]:
        """Return the references of one payment: by bank transfer, of its account and of its page."""
        rows = await self.market.databases["payments"].fetch(_OF_INTENT, UUID(intent_id))
        return [str(row["reference"]) for row in rows]

    async def charges_of(self, *orders: OrderRecord) -> list[dict[str, Any]]:
        """Return the gateway's transactions of these orders' payments, in kobo."""
        return await self._at_gateway(_CHARGES, orders)

    async def refunds_of(self, *orders: OrderRecord) -> list[dict[str, Any]]:
        """Return the gateway's refunds of these orders' charges, in kobo."""
        return await self._at_gateway(_REFUNDS, orders)

    async def _at_gateway(self, statement: str, orders: Sequence[OrderRecord]) -> list[dict[str, Any]]:
        database = self.market.connection.world.database
        references = await self.references_of(*orders)
        return [dict(row) for reference in references for row in database.all(statement, reference)]

    async def withdrawals_of(self, buyer: User) -> list[Facts]:
        """Return the buyer's withdrawals, each with its `reference` at the gateway."""
        listed = await self.market.get("/api/balance/withdrawals?limit=100", buyer)
        return [{**one, "reference": f"wd-{UUID(one['id']).hex}"} for one in listed]


def lines_of(order: Facts) -> tuple[str, ...]:
    """Return the ids of the lines of a placed order."""
    return tuple(str(item["id"]) for item in order["items"])


def address_of(user_id: UUID) -> str:
    """Return the mail address of a user of a run."""
    return f"{user_id}@unilag.edu.ng"


def phone_of(user_id: UUID) -> str:
    """Return the telephone number of a user of a run."""
    return f"+234803{int(user_id) % 10**7:07d}"


def _new_vendor() -> User:
    claims = {"roles": ("buyer", "merchant"), "vendor_id": new_id(), "campus_id": LAGOS.id, "stepped_up": True}
    return User(new_id(), claims)


def _new_agent() -> User:
    claims = {"roles": ("hub_agent",), "campus_id": LAGOS.id, "hub_id": new_id(), "stepped_up": True}
    return User(new_id(), claims)


def _new_user(user_id: UUID) -> NewUser:
    return NewUser(user_id, address_of(user_id), phone_of(user_id), "Simulated User", email_confirmed=True)
