"""Roles that groups of an identity provider propose (contract section 10.6, decision 170)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from common.primitives.tls import client_tls
from testkit.oidc_provider import OidcProvider, oidc_provider
from testkit.responses import CONFLICT, FORBIDDEN, data_of, error_of
from testkit.service_kit import BASE_URL

from .conftest import USERS, IdentityApp
from .staff_steps import StaffAdministration

RETURN_TO = "https://console.example/sign-in/provider"
PATH = "/api/auth/oidc/school"
GRANTS = "/api/staff-grants"
MEMBER = USERS["BUYER"]
ROLE_BY_GROUP = {"it-audit": "auditor", "bursary": "finance_maker", "treasury": "finance_checker"}


@pytest_asyncio.fixture
async def provider(clock: ManualClock) -> AsyncIterator[OidcProvider]:
    async with oidc_provider(clock) as opened:
        opened.redirect_uri = f"{BASE_URL}{PATH}/callback"
        opened.user = {"sub": "248289761001", "email": MEMBER.email, "email_verified": True}
        yield opened


@pytest.fixture
def more_settings(provider: OidcProvider) -> dict[str, Any]:
    entry = {
        "name": "school",
        "issuer": provider.issuer,
        "clientId": provider.client_id,
        "clientSecret": provider.client_secret,
        "emailDomains": [USERS[name].email.partition("@")[2] for name in ("BUYER", "ADMIN")],
        "groupsClaim": {"claim": "groups", "roles": ROLE_BY_GROUP},
    }
    return {"oidc_allow_loopback": True, "oidc_providers": [entry], "allowed_origins": "https://console.example"}


@dataclass
class Institution:
    """The member at the provider, and the administrators ADMIN and BUYER2 here."""

    app: IdentityApp
    provider: OidcProvider
    staff: StaffAdministration

    async def sign_in(self, *groups: str) -> str:
        """Sign in as a member of these groups and return the access token."""
        self.provider.user["groups"] = list(groups)
        start = await self.app.get(f"{PATH}/start", returnTo=RETURN_TO)
        async with httpx.AsyncClient(verify=client_tls()) as client:
            authorized = await client.get(start.headers["location"])
        returned = await self.app.get(f"{PATH}/callback", **query_of(authorized))
        return data_of(await self.app.post("/api/auth/oidc/exchange", query_of(returned)))["accessToken"]

    async def grants(self, **filters: str) -> list[dict[str, Any]]:
        token = await self.staff.token("ADMIN")
        return data_of(await self.app.get(GRANTS, token=token, userId=str(MEMBER.id), **filters))

    async def statuses(self) -> dict[str, str]:
        return {grant["role"]: grant["status"] for grant in await self.grants()}


def query_of(response: httpx.Response) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(response.headers["location"]).query).items()}


@pytest_asyncio.fixture
async def school(app: IdentityApp, provider: OidcProvider) -> Institution:
    await app.load_demo()
    staff = StaffAdministration(app)
    await staff.second_admin()
    return Institution(app, provider, staff)


async def test_a_group_proposes_a_role_and_gives_none(school: Institution) -> None:
    token = await school.sign_in("it-audit", "students")
    caller = await school.app.runtime.verifier.caller_of(token)
    assert "auditor" not in caller.roles
    [grant] = await school.grants()
    shown = {name: grant[name] for name in ("role", "status", "proposedBy", "preparedBy", "decidedBy")}
    assert shown == {
        "role": "auditor",
        "status": "proposed",
        "proposedBy": "school",
        "preparedBy": None,
        "decidedBy": None,
    }
    assert await school.staff.roles("BUYER") == {"buyer"}


async def test_two_administrators_grant_a_proposed_role(school: Institution) -> None:
    await school.app.fetch(
        "INSERT INTO totp_factors (id, user_id, secret_sealed, created_at, confirmed_at) VALUES ($1, $2, '', $3, $3)",
        new_id(),
        MEMBER.id,
        school.app.clock.now(),
    )
    await school.sign_in("it-audit")
    [proposed] = await school.grants(awaiting="preparation")
    assert error_of(await school.staff.decide(proposed["id"], "approve")) == CONFLICT
    response = await school.staff.grant("BUYER", "auditor")
    assert (response.status_code, response.json()["data"]["id"]) == (201, proposed["id"])
    assert await school.staff.roles("BUYER") == {"buyer"}
    assert (await school.staff.grant("BUYER", "auditor")).status_code == 201
    assert error_of(await school.staff.decide(proposed["id"], "approve", by="ADMIN")) == FORBIDDEN
    assert data_of(await school.staff.decide(proposed["id"], "approve"))["status"] == "approved"
    assert await school.staff.roles("BUYER") == {"buyer", "auditor"}
    await school.sign_in("it-audit")
    assert await school.statuses() == {"auditor": "approved"}


async def test_every_sign_in_repeats_a_proposal_without_a_second_one(school: Institution) -> None:
    await school.sign_in("it-audit", "bursary")
    await school.sign_in("bursary", "it-audit")
    assert await school.statuses() == {"auditor": "proposed", "finance_maker": "proposed"}
    assert len(await school.grants()) == 2
    assert [action for _, action, _ in await school.staff.actions()].count("role_proposed") == 2


async def test_a_sign_in_without_the_group_withdraws_the_proposal(school: Institution) -> None:
    await school.sign_in("it-audit", "bursary")
    await school.sign_in("bursary")
    assert await school.statuses() == {"auditor": "expired", "finance_maker": "proposed"}


async def test_a_prepared_grant_outlasts_the_group(school: Institution) -> None:
    await school.sign_in("it-audit")
    await school.staff.grant("BUYER", "auditor")
    await school.sign_in()
    assert await school.statuses() == {"auditor": "prepared"}


async def test_a_rejected_proposal_is_not_repeated_for_ninety_days(school: Institution, clock: ManualClock) -> None:
    await school.sign_in("it-audit")
    [proposed] = await school.grants()
    assert data_of(await school.staff.decide(proposed["id"], "reject", by="ADMIN"))["status"] == "rejected"
    assert (await school.staff.decide(proposed["id"], "reject", by="ADMIN")).status_code == 200
    await school.sign_in("it-audit")
    assert [grant["status"] for grant in await school.grants()] == ["rejected"]
    clock.advance(timedelta(days=90))
    await school.sign_in("it-audit")
    rows = await school.app.fetch("SELECT status FROM staff_grants ORDER BY id")
    assert [row["status"] for row in rows] == ["rejected", "proposed"]


async def test_an_expired_proposal_is_decided_no_more(school: Institution, clock: ManualClock) -> None:
    await school.sign_in("it-audit")
    [proposed] = await school.grants()
    clock.advance(timedelta(days=30))
    fresh, _ = await school.staff.sign_in("ADMIN", stepped_up=True)
    response = await school.app.post(f"{GRANTS}/{proposed['id']}/reject", {}, token=fresh)
    assert error_of(response) == CONFLICT
    assert "expired" in response.json()["detail"]


async def test_a_role_that_excludes_a_held_one_is_not_proposed(school: Institution) -> None:
    await school.app.fetch(
        "INSERT INTO role_grants (user_id, role, granted_by, granted_at) VALUES ($1, 'finance_checker', $2, now())",
        MEMBER.id,
        USERS["ADMIN"].id,
    )
    await school.sign_in("bursary", "treasury")
    assert await school.grants() == []


async def test_no_user_decides_on_their_own_proposal(school: Institution) -> None:
    school.provider.user |= {"email": USERS["ADMIN"].email}
    await school.sign_in("it-audit")
    [row] = await school.app.fetch("SELECT id FROM staff_grants")
    assert error_of(await school.staff.decide(row["id"], "reject", by="ADMIN")) == FORBIDDEN
    assert error_of(await school.staff.grant("ADMIN", "auditor")) == FORBIDDEN


async def test_the_groups_may_be_in_the_user_info_only(school: Institution) -> None:
    school.provider.hides_groups = True
    await school.sign_in("it-audit")
    assert await school.statuses() == {"auditor": "proposed"}


async def test_work_counts_the_proposals_that_wait(school: Institution) -> None:
    await school.sign_in("it-audit", "bursary")
    work = data_of(await school.app.get("/api/work", token=await school.staff.token("ADMIN")))
    assert {item["kind"]: item["count"] for item in work}["staff_grants_to_prepare"] == 2


async def test_the_database_refuses_a_grant_that_no_admin_prepared(school: Institution) -> None:
    await school.sign_in("it-audit")
    for status in ("prepared", "approved"):
        with pytest.raises(asyncpg.CheckViolationError):
            await school.app.fetch_as_owner(
                "UPDATE staff_grants SET status = $1, decided_by = gen_random_uuid(), decided_at = now()", status
            )
