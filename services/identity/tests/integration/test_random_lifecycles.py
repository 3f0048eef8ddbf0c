"""Random walks over the lifecycles of applications, vendors, staff decisions and erasures, through the real use cases:
each result is the one that a rule gives, and the database refuses every other change of state.
"""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any, Final
from uuid import UUID

import pytest
import pytest_asyncio

from common.primitives.decisions import DECISION
from common.primitives.ids import new_id
from common.primitives.lifecycles import Lifecycle, Rejection
from contracts import orders, payments, payouts
from identity.domain.erasure import ERASURE
from identity.domain.erasure import evaluate as verdict_of
from identity.domain.staff import STAFF_GRANT
from identity.domain.vendor_applications import APPLICATION
from identity.domain.vendors import VENDOR
from identity.store.staff import lock_staff
from identity.use_cases.staff.propose_roles import propose_roles
from testkit.state_changes import StateChanges
from testkit.walks import SEEDS, walk

from .conftest import PASSWORD, IdentityApp
from .staff_steps import TESTING, StaffAdministration
from .steps import APPLICATION as DETAILS
from .steps import CHANGES, PATH

LIFECYCLES: dict[str, Lifecycle[Any, Any]] = {
    "vendor_applications": APPLICATION,
    "vendors": VENDOR,
    "erasure_requests": ERASURE,
    "commission_changes": DECISION,
    "staff_grants": STAFF_GRANT,
}
ROLE: Final = "finance_maker"
DECIDERS = {
    "vendor_applications": (PATH, "CAMPUS"),
    "commission_changes": (CHANGES, "BUYER2"),
    "staff_grants": ("/api/staff-grants", "BUYER2"),
}
EVALUATIONS = {
    event.publisher(): event for event in (orders.ErasureJudged, payments.ErasureJudged, payouts.ErasureJudged)
}
WALKS, LENGTH = 15, 25
PICKED, EITHER = range(3), (True, False)
STEPS = [
    *[("apply",)] * 2,
    *[("decide_on_application", PICKED, EITHER)] * 2,
    *[("change_vendor", ("suspended", "reinstated"))] * 2,
    ("prepare_commission", (None, 100, 250)),
    *[("decide_on_commission", PICKED, EITHER)] * 2,
    ("prepare_grant",),
    ("sign_in_with_group", EITHER),
    *[("decide_on_grant", PICKED, EITHER)] * 2,
    ("revoke_role",),
    ("request_erasure",),
    *[("evaluate", sorted(EVALUATIONS), EITHER)] * 2,
    *[("erase", EITHER)] * 2,
]
# A role that moves money needs a second factor.
_ADD_FACTOR = (
    "INSERT INTO totp_factors (id, user_id, secret_sealed, created_at, confirmed_at) VALUES ($1, $2, '', $3, $3)"
)
numbers = count(1)


class UserWalker:
    """One user, their shop, their role and their erasure. ADMIN prepares, BUYER2 is the second administrator. Each step
    happens at any time.
    """

    def __init__(self, staff: StaffAdministration, changes: StateChanges, user_id: UUID, token: str) -> None:
        self.staff, self.changes, self.user_id, self.token = staff, changes, user_id, token

    async def run_step(self, name: str, *arguments: Any) -> None:
        await getattr(self, name)(*arguments)
        assert await self.changes.forbidden() == []

    async def rows(self, table: str, column: str = "user_id", value: UUID | None = None) -> list[Any]:
        statement = f"SELECT * FROM {table} WHERE {column} = $1 ORDER BY id"
        return await self.staff.app.fetch(statement, value or self.user_id)

    async def shop(self) -> Any:
        return next(iter(await self.rows("vendors", "owner_user_id")), None)

    async def is_erased(self) -> bool:
        [profile] = await self.rows("profiles", "id")
        return profile["erased_at"] is not None

    async def is_staff(self) -> bool:
        rows = await self.staff.app.fetch("SELECT role FROM role_grants WHERE user_id = $1", self.user_id)
        return ROLE in {row["role"] for row in rows}

    async def send(self, method: str, path: str, body: Any, by: str | None = None) -> bool:
        """Return whether the request succeeds. A rejection is a decision of ours, never a failure."""
        token = self.token if by is None else await self.staff.token(by)
        headers = {"Authorization": f"Bearer {token}"}
        response = await self.staff.app.client.request(method, path, json=body, headers=headers)
        assert response.status_code in (200, 201, 202, 403, 404, 409), response.text
        return response.is_success

    async def check(self, table: str, one: Any, expected: str | Rejection, *, succeeded: bool) -> None:
        assert succeeded is (expected is not Rejection.FORBIDDEN), (table, one["status"], expected)
        [after] = await self.rows(table, "id", one["id"])
        assert after["status"] == (one["status"] if isinstance(expected, Rejection) else expected)

    async def decide(self, table: str, made: list[Any], picked: int, approves: bool, *, allowed: bool = True) -> None:
        """Approve or reject one of these; `allowed` is False where its subject permits no approval."""
        if not made:
            return
        one, (path, by) = made[picked % len(made)], DECIDERS[table]
        body: dict[str, Any] = {} if approves or table != "vendor_applications" else {"reason": "Which books?"}
        if approves and table != "vendor_applications":
            shown = await self.staff.app.get(f"{path}/{one['id']}", token=await self.staff.token(by))
            body = {"hash": shown.json()["data"]["hash"]}
        succeeded = await self.send("POST", f"{path}/{one['id']}/{'approve' if approves else 'reject'}", body, by)
        expected = LIFECYCLES[table].next_state(one["status"], "approved" if approves else "rejected")
        if approves and not allowed and not isinstance(expected, Rejection):
            expected = Rejection.FORBIDDEN
        await self.check(table, one, expected, succeeded=succeeded)

    async def apply(self) -> None:
        is_waiting = any(row["status"] == "pending" for row in await self.rows("vendor_applications"))
        may_apply = not is_waiting and await self.shop() is None and not await self.is_erased()
        assert await self.send("POST", PATH, DETAILS) is may_apply

    async def decide_on_application(self, picked: int, approves: bool) -> None:
        await self.decide("vendor_applications", await self.rows("vendor_applications"), picked, approves)

    async def change_vendor(self, trigger: Any) -> None:
        if (shop := await self.shop()) is None:
            return
        verb, body = ("suspend", {"reason": "Complaints"}) if trigger == "suspended" else ("reinstate", {})
        succeeded = await self.send("POST", f"/api/vendors/{shop['id']}/{verb}", body, "CAMPUS")
        await self.check("vendors", shop, VENDOR.next_state(shop["status"], trigger), succeeded=succeeded)

    async def prepare_commission(self, points: int | None) -> None:
        """Prepare a change, of which a vendor has at most one."""
        if (shop := await self.shop()) is None:
            return
        waiting = [row for row in await self.commission_changes() if row["status"] == "prepared"]
        is_new = shop["commission_basis_points"] != points
        may_prepare = shop["status"] != "closed" and not (
            is_new and any(row["basis_points"] != points for row in waiting)
        )
        path, body = f"/api/vendors/{shop['id']}", {"commissionBasisPoints": points}
        assert await self.send("PATCH", path, body, "ADMIN") is may_prepare
        prepared = [row for row in await self.commission_changes() if row["status"] == "prepared"]
        assert len(prepared) == max(len(waiting), may_prepare and is_new)

    async def commission_changes(self) -> list[Any]:
        shop = await self.shop()
        return [] if shop is None else await self.rows("commission_changes", "vendor_id", shop["id"])

    async def decide_on_commission(self, picked: int, approves: bool) -> None:
        shop = await self.shop()
        is_open = shop is not None and shop["status"] != "closed"
        await self.decide("commission_changes", await self.commission_changes(), picked, approves, allowed=is_open)

    async def prepare_grant(self) -> None:
        path = f"/api/staff/{self.user_id}/grant"
        assert await self.send("POST", path, {"role": ROLE}, "ADMIN") is not await self.is_erased()

    async def sign_in_with_group(self, is_member: bool) -> None:
        """Propose the role or withdraw the proposal, as a sign-in at an identity provider does."""
        now, roles = self.staff.app.clock.now(), {ROLE} if is_member else set()
        async with self.staff.app.dependencies.database.unit_of_work(acting_as=TESTING) as uow:
            await lock_staff(uow)
            await propose_roles(uow, self.user_id, "school", roles, now=now)

    async def decide_on_grant(self, picked: int, approves: bool) -> None:
        """Decide on the grant; an erased user has none to approve or reject."""
        made = await self.rows("staff_grants")
        if not await self.is_erased():
            await self.decide("staff_grants", made, picked, approves)

    async def revoke_role(self) -> None:
        """Revoke the role, which ends the user's sessions, and sign in again."""
        succeeded = await self.send("POST", f"/api/staff/{self.user_id}/revoke", {"role": ROLE}, "ADMIN")
        assert succeeded is not await self.is_erased()
        assert not await self.is_staff()
        if succeeded:
            self.token, _ = await self.staff.sign_in(self.user_id, stepped_up=True)

    async def is_blocked(self) -> bool:
        shop = await self.shop()
        return await self.is_staff() or (shop is not None and shop["status"] == "suspended")

    async def request_erasure(self) -> None:
        before, is_blocked = await self.rows("erasure_requests"), await self.is_blocked()
        may_request = not is_blocked and not await self.is_erased()
        assert await self.send("DELETE", "/api/profiles/current", {"password": PASSWORD}) is may_request
        is_waiting = any(row["status"] == "asked" for row in before)
        assert len(await self.rows("erasure_requests")) == len(before) + (may_request and not is_waiting)

    async def evaluate(self, service: str, is_free: bool) -> None:
        """Deliver the evaluation of one service; the last one decides, with the obligations in this service."""
        if not (requests := await self.rows("erasure_requests")):
            return
        one, shop, is_blocked = requests[-1], await self.shop(), await self.is_blocked()
        rows = await self.staff.app.fetch("SELECT * FROM erasure_verdicts WHERE request_id = $1", one["id"])
        open_matters = () if is_free else ("orders",)
        verdict = verdict_of({service: open_matters} | {row["service"]: row["open_matters"] for row in rows})
        is_newer = (shop and shop["id"]) != one["vendor_id"]
        if verdict == "done" and (is_blocked or is_newer):
            verdict = "refused"
        event = EVALUATIONS[service](request_id=one["id"], user_id=self.user_id, open_matters=open_matters)
        await self.staff.app.receive(event)
        await self.check("erasure_requests", one, ERASURE.next_state(one["status"], verdict), succeeded=True)

    async def erase(self, is_free: bool) -> None:
        """Request the erasure, and let every service evaluate it."""
        await self.request_erasure()
        for service in EVALUATIONS:
            await self.evaluate(service, is_free)


@pytest_asyncio.fixture
async def changes(app: IdentityApp) -> AsyncIterator[StateChanges]:
    async with app.connected() as owner:
        changes = await StateChanges.recorded(owner, LIFECYCLES)
        await changes.refuse_others(*LIFECYCLES)
        yield changes


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_user_follows_the_lifecycles(seed: int, app: IdentityApp, changes: StateChanges) -> None:
    await app.load_demo()
    staff = StaffAdministration(app)
    await staff.second_admin()

    async def start() -> UserWalker:
        user_id = await app.sign_up(f"walker{(number := next(numbers))}@unilag.edu.ng")
        await app.fetch(_ADD_FACTOR, new_id(), user_id, app.clock.now())
        walker = UserWalker(staff, changes, user_id, (await staff.sign_in(user_id, stepped_up=True))[0])
        await walker.apply()
        await walker.decide_on_application(0, approves=number % 3 > 0)
        return walker

    await walk(start, STEPS, seed, walks=WALKS, length=LENGTH)
    assert changes.walked[APPLICATION] == APPLICATION.transitions
    assert changes.walked[VENDOR] == VENDOR.transitions
    assert changes.walked[ERASURE] == ERASURE.transitions - {("asked", "asked")}
    assert ("prepared", "approved") in changes.walked[DECISION]
