"""Steps that several tests of the service share."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx

from common.auth.caller import Caller
from contracts import demo
from contracts.permissions import permissions_of
from testkit.responses import data_of

from .conftest import SERVICE_ROLE_KEY, USERS, IdentityApp
from .staff_steps import StaffAdministration

ADA = f"/api/vendors/{demo.ADA.id}"
CHANGES = "/api/commission-changes"
CHANGED = "identity.vendor_changed.v1"
APPLICATION = {
    "businessName": "Dami's Books",
    "legalName": "Dami Bello Enterprises",
    "campusId": str(demo.LAGOS.id),
    "category": "books",
    "description": "Used textbooks in good state.",
}
PATH = "/api/vendor-applications"
EVENTS = ("identity.vendor_approved.v1", "identity.vendor_application_decided.v1")


@dataclass
class Platform:
    """ADMIN prepares, BUYER2 is the second administrator."""

    staff: StaffAdministration

    @property
    def app(self) -> IdentityApp:
        return self.staff.app

    async def send(self, method: str, path: str, body: Any, by: str, **headers: str) -> httpx.Response:
        headers["Authorization"] = f"Bearer {await self.staff.token(by)}"
        return await self.app.client.request(method, path, json=body, headers=headers)

    async def patch(self, points: int | None, by: str = "ADMIN", **headers: str) -> httpx.Response:
        return await self.send("PATCH", ADA, {"commissionBasisPoints": points}, by, **headers)

    async def prepared(self, points: int | None) -> dict[str, Any]:
        change: dict[str, Any] = data_of(await self.patch(points))["commissionChange"]
        assert change["status"] == "prepared"
        return change

    async def approve(self, change: dict[str, Any], by: str = "BUYER2") -> httpx.Response:
        return await self.send("POST", f"{CHANGES}/{change['id']}/approve", {"hash": change["hash"]}, by)

    async def reject(self, change: dict[str, Any], by: str = "BUYER2") -> httpx.Response:
        return await self.send("POST", f"{CHANGES}/{change['id']}/reject", {"reason": "too low"}, by)

    async def commission(self) -> int | None:
        [row] = await self.app.fetch("SELECT commission_basis_points AS points FROM vendors WHERE id = $1", demo.ADA.id)
        return row["points"]

    async def published(self) -> list[dict[str, Any]]:
        return await self.app.published(CHANGED)

    async def state(self) -> list[Any]:
        return [
            await self.app.fetch(f"SELECT * FROM {table} ORDER BY id")
            for table in ("vendors", "commission_changes", "staff_acts", "outbox")
        ]


async def create_user(
    app: IdentityApp, email: str, *, user_id: UUID | None = None, key: str = SERVICE_ROLE_KEY, **more: Any
) -> httpx.Response:
    metadata = {name: more.pop(name) for name in ("referral_token", "full_name") if name in more}
    user = {"id": str(user_id or uuid4()), "email": email, "user_metadata": metadata, **more}
    return await app.client.post(
        "/functions/v1/create-user", json={"user": user}, headers={"Authorization": f"Bearer {key}"}
    )


async def created_user(app: IdentityApp, email: str, **more: Any) -> dict[str, Any]:
    return data_of(await create_user(app, email, **more))


async def referral_token_of(app: IdentityApp, email: str) -> str:
    rows = await app.fetch("SELECT referral_token FROM profiles WHERE email = $1", email)
    return str(rows[0]["referral_token"])


async def referral_count_of(app: IdentityApp, email: str) -> int:
    tokens = await app.log_in(email)
    response = await app.get("/api/referrals/current", token=tokens["accessToken"])
    return int(response.json()["data"]["count"])


def caller_named(name: str) -> Caller:
    user = USERS[name]
    roles = frozenset(user.roles)
    return Caller(user.id, roles=roles, permissions=permissions_of(roles), campus_id=user.campus_id)


class Campus:
    """The service with the demo data, and its users, signed in when they are first needed."""

    def __init__(self, app: IdentityApp) -> None:
        self.app = app
        self._tokens: dict[str, str] = {}

    async def token(self, name: str) -> str:
        if name not in self._tokens:
            self._tokens[name] = await StaffAdministration(self.app).token(name)
        return self._tokens[name]

    def sign_in_again(self, name: str) -> None:
        self._tokens.pop(name, None)

    async def grant(self, name: str, role: str, campus_id: UUID) -> None:
        await self.app.fetch(
            "INSERT INTO role_grants (user_id, role, campus_id, granted_at) VALUES ($1, $2, $3, now())",
            USERS[name].id,
            role,
            campus_id,
        )
        self.sign_in_again(name)

    async def apply(self, name: str = "BUYER2", **changes: Any) -> httpx.Response:
        return await self.app.post(PATH, {**APPLICATION, **changes}, token=await self.token(name))

    async def applied(self, name: str = "BUYER2") -> str:
        return str(data_of(await self.apply(name), 201)["id"])

    async def approve(self, application_id: str, by: str = "CAMPUS") -> httpx.Response:
        return await self.app.post(f"{PATH}/{application_id}/approve", token=await self.token(by))

    async def reject(self, application_id: str, by: str = "CAMPUS", reason: str = "Which books?") -> httpx.Response:
        return await self.app.post(f"{PATH}/{application_id}/reject", {"reason": reason}, token=await self.token(by))

    async def events(self) -> dict[str, list[dict[str, Any]]]:
        """Return the published events of applications, without the vendors of the demo data."""
        shown = {name: await self.app.published(name) for name in EVENTS}
        shown[EVENTS[0]] = shown[EVENTS[0]][len(demo.VENDORS) :]
        return shown

    async def state(self) -> list[Any]:
        """Everything that a decision writes."""
        return [
            await self.app.fetch(statement)
            for statement in (
                "SELECT id, status, reason, decided_by FROM vendor_applications ORDER BY id",
                "SELECT id, owner_user_id, status, revision FROM vendors ORDER BY id",
                "SELECT user_id, role FROM role_grants ORDER BY user_id, role",
                "SELECT id FROM outbox ORDER BY position",
                "SELECT id FROM staff_acts ORDER BY id",
            )
        ]
