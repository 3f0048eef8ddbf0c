"""The demo's users at the staff endpoints."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx

from common.auth.caller import ServiceItself
from identity.domain.authorization_profile import SignIn
from identity.store import accounts, sessions
from identity.use_cases.sessions.steps import issue_tokens
from identity.use_cases.staff.appoint_admin import appoint_admin

from .conftest import USERS, IdentityApp

REVOKED = "identity.session_revoked.v1"
TESTING = ServiceItself("a test")


@dataclass
class StaffAdministration:
    """The demo's users at the staff endpoints. BUYER2 is the second administrator."""

    app: IdentityApp
    _tokens: dict[tuple[str, bool], str] = field(default_factory=dict)

    async def token(self, name: str, *, stepped_up: bool = True) -> str:
        """Return a token of a stored session of this user; it skips the cost of a password."""
        if (name, stepped_up) not in self._tokens:
            self._tokens[name, stepped_up] = (await self.sign_in(name, stepped_up=stepped_up))[0]
        return self._tokens[name, stepped_up]

    async def sign_in(self, name: str | UUID, *, stepped_up: bool = False) -> tuple[str, str]:
        """Access and refresh token of a new session."""
        dependencies, now = self.app.dependencies, self.app.clock.now()
        user_id = name if isinstance(name, UUID) else USERS[name].id
        sign_in = SignIn(uuid4(), now)
        async with dependencies.database.unit_of_work(acting_as=TESTING) as uow:
            await sessions.record_session(uow, user_id, sign_in)
            profile = await accounts.find_authorization_profile(uow, user_id)
            shown = sign_in.stepped_up("totp", None, now) if stepped_up else sign_in
            signed = await issue_tokens(uow, dependencies.token_issuer, profile, shown, now=now)
        return signed.access_token, signed.refresh_token

    async def caller(self, name: str) -> Any:
        return await self.app.runtime.verifier.caller_of(await self.token(name))

    async def act(self, verb: str, name: str | UUID, body: Any = None, *, by: str = "ADMIN") -> httpx.Response:
        user_id = name if isinstance(name, UUID) else USERS[name].id
        return await self.app.post(f"/api/staff/{user_id}/{verb}", body, token=await self.token(by))

    async def grant(self, name: str | UUID, role: str, *, by: str = "ADMIN", **place: Any) -> httpx.Response:
        return await self.act("grant", name, {"role": role, **place}, by=by)

    async def prepared(self, name: str, role: str) -> str:
        response = await self.grant(name, role)
        assert (response.status_code, response.json()["data"]["status"]) == (201, "prepared"), response.text
        return response.json()["data"]["id"]

    async def decide(self, grant_id: str | UUID, verb: str, *, by: str = "BUYER2") -> httpx.Response:
        token, body = await self.token(by), {}
        if verb == "approve":
            shown = await self.app.get(f"/api/staff-grants/{grant_id}", token=token)
            body = {"hash": shown.json()["data"]["hash"] if shown.status_code == 200 else "0" * 64}
        return await self.app.post(f"/api/staff-grants/{grant_id}/{verb}", body, token=token)

    async def second_admin(self) -> None:
        await appoint_admin(self.app.dependencies.database, USERS["BUYER2"].email, now=self.app.clock.now())

    async def roles(self, name: str) -> set[str]:
        rows = await self.app.fetch("SELECT role FROM role_grants WHERE user_id = $1", USERS[name].id)
        return {row["role"] for row in rows}

    async def actions(self) -> list[tuple[str | None, str, str]]:
        """Actor, action and subject of each recorded action by their names, oldest first."""
        names = {user.id: name for name, user in USERS.items()}
        rows = await self.app.fetch("SELECT actor_id, act, subject_id FROM staff_acts ORDER BY id")
        return [(names.get(row["actor_id"]), row["act"], names.get(row["subject_id"], "?")) for row in rows]

    async def state(self) -> list[Any]:
        """Everything that a change of staff writes."""
        return [
            await self.app.fetch(statement)
            for statement in (
                "SELECT * FROM role_grants ORDER BY user_id, role",
                "SELECT * FROM staff_grants ORDER BY id",
                "SELECT * FROM suspensions ORDER BY user_id",
                "SELECT * FROM staff_acts ORDER BY id",
                "SELECT id FROM sessions WHERE ended_at IS NOT NULL ORDER BY id",
                "SELECT id FROM outbox ORDER BY position",
            )
        ]
