"""The row policies hold even when a query forgets its filter (contract section 5)."""

from typing import Any

import asyncpg
import pytest

from common.caller import ANONYMOUS, Caller
from contracts import demo
from contracts.permissions import permissions_of
from identity.tables import metadata

from .conftest import USERS, Identity

CREDENTIALS = (
    "accounts",
    "sessions",
    "refresh_tokens",
    "totp_factors",
    "recovery_codes",
    "passkeys",
    "passkey_challenges",
    "signing_keys",
    "one_time_codes",
    "login_failures",
)


def caller_named(name: str) -> Caller:
    user = USERS[name]
    roles = frozenset(user.roles)
    return Caller(user.id, roles=roles, permissions=permissions_of(roles), campus_id=user.campus_id)


async def seen_by(identity: Identity, caller: Caller, statement: str) -> list[Any]:
    async with identity.dependencies.database.unit_of_work(acting_as=caller) as uow:
        return [row[0] for row in await uow.fetch(statement)]


async def test_a_person_sees_their_own_profile_roles_and_referrals_only(identity: Identity) -> None:
    await identity.load_demo()
    buyer = caller_named("BUYER")
    assert await seen_by(identity, buyer, "SELECT id FROM profiles") == [buyer.user_id]
    assert await seen_by(identity, buyer, "SELECT role FROM role_grants") == ["buyer"]
    await identity.service.fetch(
        "INSERT INTO referrals VALUES ($1, $2, 'x', 1, now())", USERS["BUYER2"].id, USERS["VENDOR"].id
    )
    assert await seen_by(identity, buyer, "SELECT user_id FROM referrals") == []
    assert await seen_by(identity, caller_named("VENDOR"), "SELECT user_id FROM referrals") == [USERS["BUYER2"].id]
    for table in ("profiles", "role_grants", "referrals"):
        assert await seen_by(identity, ANONYMOUS, f"SELECT 1 FROM {table}") == []


async def test_a_person_changes_no_profile_but_their_own(identity: Identity) -> None:
    await identity.load_demo()
    for caller in (caller_named("BUYER"), caller_named("AUDITOR"), caller_named("ADMIN"), ANONYMOUS):
        async with identity.dependencies.database.unit_of_work(acting_as=caller) as uow:
            changed = await uow.execute(
                "UPDATE profiles SET full_name = 'X', revision = revision + 1 WHERE id = $1", USERS["BUYER2"].id
            )
        assert changed == 0


async def test_not_even_ones_own_address_campus_or_reward_can_be_changed(identity: Identity) -> None:
    for column in (
        "email",
        "campus_id",
        "referral_applied",
        "referral_reward_minor",
        "mailbox",
        "confirmed_email",
        "confirmed_phone",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await seen_by(identity, caller_named("BUYER"), f"UPDATE profiles SET {column} = {column} RETURNING id")


async def test_credentials_are_out_of_every_callers_reach(identity: Identity) -> None:
    for table in CREDENTIALS:
        for caller in (caller_named("ADMIN"), caller_named("AUDITOR"), ANONYMOUS):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await seen_by(identity, caller, f"SELECT 1 FROM {table}")


async def test_legal_names_and_commissions_are_out_of_every_callers_reach(identity: Identity) -> None:
    for column in ("legal_name", "commission_basis_points", "owner_user_id"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await seen_by(identity, ANONYMOUS, f"SELECT {column} FROM vendors")


async def test_suspended_vendors_and_closed_campuses_are_invisible(identity: Identity) -> None:
    await identity.load_demo()
    await identity.service.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
    await identity.service.fetch("UPDATE hubs SET active = false WHERE id = $1", demo.MOREMI_HUB.id)
    await identity.service.fetch("UPDATE vendors SET status = 'suspended' WHERE id = $1", demo.BOLA.id)
    for caller in (ANONYMOUS, caller_named("BUYER")):
        campuses = await seen_by(identity, caller, "SELECT id FROM campuses")
        assert set(campuses) == {demo.LAGOS.id, demo.IBADAN.id}
        assert await seen_by(identity, caller, "SELECT id FROM hubs") == [demo.AKOKA_HUB.id]
        assert await seen_by(identity, caller, "SELECT id FROM vendors") == [demo.ADA.id]


async def test_no_caller_grants_a_role_makes_a_vendor_or_moves_a_campus(identity: Identity) -> None:
    await identity.load_demo()
    admin = caller_named("ADMIN")
    for statement in (
        f"INSERT INTO role_grants (user_id, role, granted_at) VALUES ('{admin.user_id}', 'finance_maker', now())",
        "UPDATE role_grants SET role = 'auditor'",
        "DELETE FROM role_grants",
        "UPDATE vendors SET status = 'active'",
        "UPDATE campuses SET domain = domain",
        "DELETE FROM campuses",
        "UPDATE hubs SET campus_id = campus_id",
        "INSERT INTO referrals SELECT id, id, 'x', 1, now() FROM profiles",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await seen_by(identity, admin, statement)


async def test_every_table_of_the_service_stands_under_row_security(identity: Identity) -> None:
    rows = await identity.service.fetch(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relrowsecurity AND relnamespace = 'public'::regnamespace"
    )
    mechanisms = {"outbox", "outbox_sequences", "inbox", "dead_letters", "session_revocations"}
    assert {row["relname"] for row in rows} == set(metadata.tables) - mechanisms
