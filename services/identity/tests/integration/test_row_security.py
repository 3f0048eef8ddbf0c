"""The row policies apply even to a query without its filter (contract section 5)."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from common.auth.caller import ANONYMOUS, Caller
from contracts import demo
from identity.tables import metadata

from .conftest import USERS, IdentityApp
from .steps import caller_named

ALL = {"*"}
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
    "issued_codes",
    "code_tries",
    "message_counts",
    "sign_up_passwords",
    "login_failures",
    "shop_members",
    "shop_invitations",
)


async def seen_by(app: IdentityApp, caller: Caller, statement: str) -> list[Any]:
    async with app.dependencies.database.unit_of_work(acting_as=caller) as uow:
        return [row[0] for row in await uow.fetch(statement)]


async def test_a_user_reads_only_their_own_profile_roles_and_referrals(app: IdentityApp) -> None:
    await app.load_demo()
    buyer = caller_named("BUYER")
    assert await seen_by(app, buyer, "SELECT id FROM profiles") == [buyer.user_id]
    assert await seen_by(app, buyer, "SELECT role FROM role_grants") == ["buyer"]
    await app.fetch("INSERT INTO referrals VALUES ($1, $2, 'x', 1, now())", USERS["BUYER2"].id, USERS["VENDOR"].id)
    assert await seen_by(app, buyer, "SELECT user_id FROM referrals") == []
    assert await seen_by(app, caller_named("VENDOR"), "SELECT user_id FROM referrals") == [USERS["BUYER2"].id]
    for table in ("profiles", "role_grants", "referrals"):
        assert await seen_by(app, ANONYMOUS, f"SELECT 1 FROM {table}") == []


async def test_a_user_changes_only_their_own_profile(app: IdentityApp) -> None:
    await app.load_demo()
    for caller in (caller_named("BUYER"), caller_named("AUDITOR"), caller_named("ADMIN"), ANONYMOUS):
        async with app.dependencies.database.unit_of_work(acting_as=caller) as uow:
            changed = await uow.execute(
                "UPDATE profiles SET full_name = 'X', revision = revision + 1 WHERE id = $1", USERS["BUYER2"].id
            )
        assert changed == 0


async def test_not_even_ones_own_address_campus_or_reward_can_be_changed(app: IdentityApp) -> None:
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
            await seen_by(app, caller_named("BUYER"), f"UPDATE profiles SET {column} = {column} RETURNING id")


async def test_no_caller_reads_credentials(app: IdentityApp) -> None:
    for table in CREDENTIALS:
        for caller in (caller_named("ADMIN"), caller_named("AUDITOR"), ANONYMOUS):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await seen_by(app, caller, f"SELECT 1 FROM {table}")


async def test_no_caller_reads_legal_names_and_commissions(app: IdentityApp) -> None:
    for column in ("legal_name", "commission_basis_points", "owner_user_id"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await seen_by(app, ANONYMOUS, f"SELECT {column} FROM vendors")


async def test_suspended_vendors_and_closed_campuses_are_invisible(app: IdentityApp) -> None:
    await app.load_demo()
    await app.fetch("UPDATE campuses SET active = false WHERE id = $1", demo.NSUKKA.id)
    await app.fetch("UPDATE hubs SET active = false WHERE id = $1", demo.MOREMI_HUB.id)
    await app.fetch("UPDATE vendors SET status = 'suspended' WHERE id = $1", demo.BOLA.id)
    for caller in (ANONYMOUS, caller_named("BUYER")):
        campuses = await seen_by(app, caller, "SELECT id FROM campuses")
        assert set(campuses) == {demo.LAGOS.id, demo.IBADAN.id}
        assert await seen_by(app, caller, "SELECT id FROM hubs") == [demo.AKOKA_HUB.id]
        assert await seen_by(app, caller, "SELECT id FROM vendors") == [demo.ADA.id]


async def test_no_caller_grants_a_role_makes_a_vendor_or_changes_a_campus(app: IdentityApp) -> None:
    await app.load_demo()
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
            await seen_by(app, admin, statement)


# What the API role may do, for each relation: on all columns, or on those that are named. Whatever is not here is out
# of its reach: a new table is listed here by a decision.
GRANTS: dict[str, dict[str, set[str]]] = {
    "campuses": {"SELECT": ALL, "INSERT": ALL, "UPDATE": {"name", "active", "revision"}},
    "hubs": {
        "SELECT": ALL,
        "INSERT": ALL,
        "UPDATE": {"name", "address", "delivery_fee_minor", "active", "revision", "opening_hours"},
    },
    "profiles": {"SELECT": ALL, "UPDATE": {"full_name", "phone", "revision", "updated_at"}},
    "referrals": {"SELECT": ALL},
    "role_grants": {"SELECT": ALL},
    "vendors": {
        "SELECT": {"id", "business_name", "campus_id", "category", "description", "created_at"}
        | {"absent_until", "absence_message", "opening_hours"}
    },
    "vendors_in_full": {"SELECT": ALL},
    "vendor_applications": {
        "SELECT": ALL,
        "INSERT": {
            "id",
            "user_id",
            "business_name",
            "legal_name",
            "campus_id",
            "category",
            "description",
            "created_at",
        },
    },
    "api_keys": {
        "SELECT": {"id", "hint", "name", "vendor_id", "scopes", "networks", "created_by", "created_at", "expires_at"}
        | {"last_used_at", "revoked_at", "revoked_by"}
    },
    "saved_views": {"SELECT": ALL},
    "staff_members": {"SELECT": ALL},
    "shop_members_in_full": {"SELECT": ALL},
    "shop_invitations_in_full": {"SELECT": ALL},
    "staff_grants": {"SELECT": ALL},
    "staff_acts": {"SELECT": ALL, "INSERT": ALL},
    "commission_changes": {"SELECT": ALL},
    "factor_resets": {"SELECT": ALL},
    "erasure_requests": {"SELECT": ALL},
    "erasure_verdicts": {"SELECT": ALL},
    # Tables of the library: an event is stored in the transaction of its cause.
    "outbox": {"INSERT": ALL},
    "outbox_sequences": {"SELECT": ALL, "INSERT": ALL, "UPDATE": ALL},
}
MECHANISMS = {
    "outbox",
    "outbox_sequences",
    "inbox",
    "dead_letters",
    "dead_letter_actions",
    "dead_letter_closures",
    "session_revocations",
    "hash_keys",
    "alembic_version",
}
OPEN_TO_ALL = {"campuses", "hubs", "vendors"}
OWNERS = {
    "profiles": "id",
    "referrals": "referrer_id",
    "role_grants": "user_id",
    "vendors_in_full": "owner_user_id",
    "vendor_applications": "user_id",
    "api_keys": "created_by",
    "saved_views": "user_id",
    "staff_members": "id",
    "shop_members_in_full": "user_id",
    "shop_invitations_in_full": "invited_by",
    "staff_grants": "user_id",
    "staff_acts": "actor_id",
    "commission_changes": "prepared_by",
    "factor_resets": "prepared_by",
    "erasure_requests": "user_id",
    "erasure_verdicts": "(SELECT user_id FROM erasure_requests WHERE id = request_id)",
}
_RELATIONS = """
SELECT relname, relkind = 'r' AS is_table, relrowsecurity, pg_get_userbyid(relowner) AS owner, reloptions FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
"""
API_ROLE = "campus_identity_api"
_MEMBERSHIPS = """
SELECT roleid::regrole::text FROM pg_auth_members WHERE member = (SELECT oid FROM pg_roles WHERE rolname = current_user)
"""
_OWN_GRANTS = """
SELECT c.relname FROM pg_class c, aclexplode(c.relacl) a
WHERE a.grantee = (SELECT oid FROM pg_roles WHERE rolname = current_user)
"""
# Grants to PUBLIC (0) count as well.
_PRIVILEGES = """
SELECT c.relname, a.privilege_type, '*' AS columns FROM pg_class c, aclexplode(c.relacl) a
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind <> 'S' AND a.grantee IN ($1::text::regrole, 0)
UNION ALL
SELECT c.relname, a.privilege_type, t.attname FROM pg_class c
JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
WHERE c.relnamespace = 'public'::regnamespace AND a.grantee IN ($1::text::regrole, 0)
"""


async def fill(app: IdentityApp) -> None:
    """Insert a row of one user into every relation that a caller may read."""
    await app.load_demo()
    owner, referrer, admin = USERS["BUYER2"].id, USERS["VENDOR"].id, USERS["ADMIN"].id
    await app.fetch("INSERT INTO referrals VALUES ($1, $2, 'x', 1, now())", owner, referrer)
    await app.fetch(
        "INSERT INTO vendor_applications "
        "(id, user_id, business_name, legal_name, campus_id, category, description, created_at) "
        "VALUES ($1, $1, 'x', 'x', $2, 'x', 'x', now())",
        owner,
        demo.LAGOS.id,
    )
    await app.fetch(
        "INSERT INTO staff_grants (id, user_id, role, prepared_by, prepared_at, expires_at) "
        "VALUES ($1, $1, 'auditor', $2, now(), now())",
        owner,
        admin,
    )
    await app.fetch(
        "INSERT INTO commission_changes (id, vendor_id, basis_points, prepared_by, prepared_at, expires_at) "
        "VALUES ($1, $2, 1, $3, now(), now())",
        owner,
        demo.ADA.id,
        admin,
    )
    await app.fetch(
        "INSERT INTO staff_acts (id, actor_id, act, subject_kind, subject_id, detail, created_at) "
        "VALUES ($1, $2, 'x', 'x', $1, '{}', now())",
        owner,
        admin,
    )
    await app.fetch(
        "INSERT INTO api_keys "
        "(id, key_hash, hint, name, vendor_id, scopes, networks, created_by, created_at, expires_at) "
        "VALUES ($1, 'x', 'x', 'x', $2, '{x}', '{}', $1, now(), now() + interval '1 day')",
        owner,
        demo.ADA.id,
    )
    await app.fetch("INSERT INTO saved_views VALUES ($1, $1, '/payouts', 'x', '', now())", owner)
    await app.fetch(
        "INSERT INTO shop_members (user_id, vendor_id, role, added_by, joined_at) VALUES ($1, $2, 'packer', $3, now())",
        owner,
        demo.ADA.id,
        admin,
    )
    await app.fetch(
        "INSERT INTO shop_invitations (id, vendor_id, email, role, invited_by, created_at, expires_at) "
        "VALUES ($1, $2, $3, 'packer', $1, now(), now() + interval '1 day')",
        owner,
        demo.ADA.id,
        USERS["BUYER2"].email,
    )
    await app.fetch(
        "WITH asked AS (INSERT INTO erasure_requests (id, user_id, asked_at) VALUES ($1, $1, now()) RETURNING id) "
        "INSERT INTO erasure_verdicts SELECT id, 'orders', '{}', now() FROM asked",
        owner,
    )


async def test_every_table_of_the_service_has_row_security(app: IdentityApp) -> None:
    relations = await app.fetch(_RELATIONS)
    tables = {row["relname"] for row in relations if row["is_table"]}
    assert {row["relname"] for row in relations if row["relrowsecurity"]} == tables - MECHANISMS
    assert tables - {"alembic_version"} == set(metadata.tables)
    assert [row["relname"] for row in relations if row["owner"] == API_ROLE] == []
    views = [row for row in relations if not row["is_table"]]
    assert all("security_barrier=true" in (row["reloptions"] or []) for row in views)


async def test_the_api_role_may_do_what_is_listed_and_nothing_else(app: IdentityApp) -> None:
    held: dict[str, dict[str, set[str]]] = {}
    for row in await app.fetch(_PRIVILEGES, API_ROLE):
        held.setdefault(row["relname"], {}).setdefault(row["privilege_type"], set()).add(row["columns"])
    assert held == GRANTS
    [powers] = await app.fetch(
        "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolreplication AS any_power, "
        "(SELECT count(*) FROM pg_auth_members WHERE member = pg_roles.oid) AS memberships FROM pg_roles WHERE "
        "rolname = $1",
        API_ROLE,
    )
    assert tuple(powers) == (False, 0)
    # A connected role has this and nothing more.
    assert await seen_by(app, ANONYMOUS, _MEMBERSHIPS) == [API_ROLE]
    assert await seen_by(app, ANONYMOUS, _OWN_GRANTS) == []


async def test_a_bare_statement_with_anothers_settings_sees_and_changes_nothing(app: IdentityApp) -> None:
    await fill(app)
    relations = [row["relname"] for row in await app.fetch(_RELATIONS)]
    assert set(OWNERS) | OPEN_TO_ALL == set(GRANTS) - MECHANISMS
    before = await contents(app, relations)
    # No user, a user who owns none of the rows, and a user whose own profile and role are stored.
    for caller in (ANONYMOUS, Caller(UUID(int=7)), caller_named("BUYER")):
        for name in set(relations) - MECHANISMS:
            may = GRANTS.get(name, {})
            await nothing_of_others(app, caller, name, may)
            await refused(app, caller, f"DELETE FROM {name}")
            await refused(app, caller, f"TRUNCATE {name}")
            # The policy is evaluated before any other constraint.
            await refused(app, caller, f"INSERT INTO {name} DEFAULT VALUES")
            if "UPDATE" not in may:
                column = next(iter(await columns_of(app, name)))
                await refused(app, caller, f"UPDATE {name} SET {column} = {column}")
                continue
            own = 1 if name == "profiles" and caller.user_id == USERS["BUYER"].id else 0
            column = sorted(may["UPDATE"])[0]
            async with app.dependencies.database.unit_of_work(acting_as=caller) as uow:
                assert await uow.execute(f"UPDATE {name} SET {column} = {column}") == own
    assert await contents(app, relations) == before


async def nothing_of_others(app: IdentityApp, caller: Caller, name: str, may: dict[str, set[str]]) -> None:
    if "SELECT" not in may:
        await refused(app, caller, f"SELECT 1 FROM {name}")
    elif name not in OPEN_TO_ALL:
        shown = await seen_by(app, caller, f"SELECT {OWNERS[name]} FROM {name}")
        assert (name, set(shown) - {caller.user_id}) == (name, set())


async def refused(app: IdentityApp, caller: Caller, statement: str) -> None:
    with pytest.raises(
        (asyncpg.InsufficientPrivilegeError, asyncpg.WrongObjectTypeError, asyncpg.ObjectNotInPrerequisiteStateError)
    ):
        await seen_by(app, caller, statement)


async def columns_of(app: IdentityApp, name: str) -> list[str]:
    rows = await app.fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped", name
    )
    return [row["attname"] for row in rows]


async def contents(app: IdentityApp, relations: list[str]) -> dict[str, set[str]]:
    """Every row of the service's tables, as text."""
    shown = {}
    for name in (
        set(relations)
        - MECHANISMS
        - {"vendors_in_full", "staff_members", "shop_members_in_full", "shop_invitations_in_full"}
    ):
        rows = await app.fetch(f"SELECT t::text AS row FROM {name} t")
        shown[name] = {row["row"] for row in rows}
    return shown
