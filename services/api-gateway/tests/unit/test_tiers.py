"""The table of tiers (contract section 4)."""

from uuid import uuid4

import pytest

from api_gateway.credentials import account_named_in, session_named_in
from api_gateway.tiers import Limits, Tiers
from common.auth.caller import Caller
from common.primitives.shared_addresses import SharedAddresses
from common.web.endpoint_table import Quota
from contracts.permissions import ROLES_BY_RANK

TIERS = Tiers(Limits(60, 300, 600, 10, 20, 60, 6_000, 1_200, 60, 600), SharedAddresses())
ADDRESS = "192.0.2.1"


def counted(quota: Quota, caller: Caller | None) -> tuple[str, str, int]:
    counter = TIERS.of(quota, caller, ADDRESS)
    return counter.tier, counter.subject, counter.limit


def test_accounts_are_hashed_in_the_quota_store() -> None:
    assert counted(Quota.BY_CALLER, None) == ("1", ADDRESS, 60)
    assert counted(Quota.SENSITIVE, None) == ("4", ADDRESS, 10)


@pytest.mark.parametrize("role", ROLES_BY_RANK)
def test_buyers_have_tier_2_and_merchants_and_staff_tier_3(role: str) -> None:
    caller = Caller(user_id=uuid4(), roles=frozenset({"buyer", role}))
    tier, limit = ("2", 300) if role == "buyer" else ("3", 600)
    assert counted(Quota.BY_CALLER, caller) == (tier, str(caller.user_id), limit)


def test_tier_4_and_5_are_counted_by_user() -> None:
    caller = Caller(user_id=uuid4(), roles=frozenset({"merchant"}))
    assert counted(Quota.SENSITIVE, caller) == ("4", str(caller.user_id), 10)
    assert counted(Quota.ASSISTANT, caller) == ("5", str(caller.user_id), 20)


def test_machines_have_a_limit_of_their_own() -> None:
    assert counted(Quota.MACHINES, None) == ("machines", ADDRESS, 6_000)


def test_images_are_counted_by_address_for_every_caller() -> None:
    caller = Caller(user_id=uuid4(), roles=frozenset({"merchant"}))
    assert counted(Quota.IMAGES, None) == counted(Quota.IMAGES, caller) == ("media", ADDRESS, 1_200)


def test_an_account_is_normalized_and_stored_only_as_a_hash() -> None:
    first = account_named_in(b'{"email": " Ada@Unilag.edu.ng ", "password": "x"}')
    assert first == account_named_in(b'{"email": "ada@unilag.edu.ng"}')
    assert first != account_named_in(b'{"email": "bola@unilag.edu.ng"}')
    assert "ada" not in first


def test_a_number_is_one_account_in_any_spelling_and_a_reset_is_named_by_its_token() -> None:
    first = account_named_in(b'{"phone": "0803 123 4567"}')
    assert first == account_named_in(b'{"phone": "\\u202a\\uff10803\\u200e 123 4567"}')
    assert first == account_named_in(b'{"email": null, "phone": "+234 (803) 123-4567", "code": "123456"}')
    assert first not in ("", account_named_in(b'{"phone": "0803 123 4568"}'))
    assert account_named_in(b'{"token": "one", "password": "x"}') != account_named_in(b'{"token": "two"}')


def test_a_rotating_refresh_token_stays_one_session() -> None:
    assert session_named_in(b'{"refreshToken": "s1.a"}') == session_named_in(b'{"refreshToken": "s1.b"}')
    assert session_named_in(b'{"refreshToken": "s1.a"}') != session_named_in(b'{"refreshToken": "s2.a"}')


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"email": 5}', b"\xff", b'{"other": "x"}'])
def test_a_body_without_an_account_counts_for_its_address(body: bytes) -> None:
    assert account_named_in(body) == ""
    account, address = TIERS.of_account("", ADDRESS)
    assert (account.subject, address.subject) == (f"{ADDRESS}:", ADDRESS)
    assert (account.limit, address.limit) == (10, 60)
