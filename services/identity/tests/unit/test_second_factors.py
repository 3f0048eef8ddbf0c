"""The pure decisions on second factors, and the settings of passkeys."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from pydantic import ValidationError

from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.recovery_codes import RecoveryCodes, is_recovery_code
from identity.domain.second_factors import (
    Factor,
    Removable,
    RequiredByAppointment,
    SignCountAdvanced,
    SignCountRegressed,
    check_removal,
    check_sign_count,
)
from identity.settings import Settings

NOW = datetime(2026, 9, 1, tzinfo=UTC)
ME, OTHER = UUID(int=1), UUID(int=2)


def factor(number: int, *, confirmed: bool = True) -> Factor:
    return Factor(UUID(int=number), "totp", None, NOW, None, confirmed)


@pytest.mark.parametrize(
    ("confirmed", "others_confirmed", "roles", "verdict"),
    [
        (True, [], ["buyer"], Removable(is_last=True)),
        (True, [], ["buyer", "merchant"], Removable(is_last=True)),
        (True, [], ["buyer", "auditor"], RequiredByAppointment()),
        (True, [False], ["hub_agent"], RequiredByAppointment()),
        (True, [True], ["hub_agent"], Removable(is_last=False)),
        (False, [True], ["hub_agent"], Removable(is_last=False)),
        (False, [], ["hub_agent"], Removable(is_last=False)),
    ],
)
def test_staff_keep_a_confirmed_factor(
    confirmed: bool, others_confirmed: list[bool], roles: list[str], verdict: Removable | RequiredByAppointment
) -> None:
    chosen = factor(1, confirmed=confirmed)
    others = [factor(2 + number, confirmed=each) for number, each in enumerate(others_confirmed)]
    assert check_removal(chosen, [chosen, *others], roles) == verdict


@pytest.mark.parametrize(
    ("known", "shown", "verdict"),
    [
        (0, 0, SignCountAdvanced()),
        (0, 1, SignCountAdvanced()),
        (7, 8, SignCountAdvanced()),
        (7, 7, SignCountRegressed()),
        (7, 6, SignCountRegressed()),
        (7, 0, SignCountRegressed()),
    ],
)
def test_a_counter_goes_on_or_is_always_zero(
    known: int, shown: int, verdict: SignCountAdvanced | SignCountRegressed
) -> None:
    assert check_sign_count(known, shown) == verdict


def test_a_recovery_code_is_of_one_user_and_has_a_form_of_its_own() -> None:
    codes = RecoveryCodes(KeyedHashes(b"a key"))
    code = codes.new_code()
    assert is_recovery_code(code)
    assert is_recovery_code(code.lower().replace("-", ""))
    assert not any(is_recovery_code(text) for text in ("123456", "", code[:-1], f"{code}A", f" {code}", f"{code}\n"))
    assert codes.hash_of(ME, code) == codes.hash_of(ME, code.lower().replace("-", ""))
    assert codes.hash_of(ME, code) != codes.hash_of(OTHER, code)
    assert codes.hash_of(ME, code) != RecoveryCodes(KeyedHashes(b"another key")).hash_of(ME, code)


def settings(**values: Any) -> Settings:
    required = {
        "port": 1,
        "jwks_url": "http://x",
        "api_database_url": "postgresql://x",
        "service_database_url": "postgresql://x",
        "broker_url": "amqp://x",
        "cursor_key": "a cursor key for tests",
        "credentials_key": "a key of credentials for tests",
        "code_delivery_key": "a key of codes for tests",
    }
    return Settings(**required, **values)


@pytest.mark.parametrize(
    ("values", "party", "origins"),
    [
        ({}, "localhost", ("http://localhost:8080",)),
        ({"base_url": "https://api.campus.ng"}, "api.campus.ng", ("https://api.campus.ng",)),
        ({"base_url": "https://api.campus.ng:443"}, "api.campus.ng", ("https://api.campus.ng",)),
        (
            {
                "base_url": "https://api.campus.ng",
                "passkey_rp_id": "campus.ng",
                "passkey_origins": "https://campus.ng/, https://www.campus.ng:8443,android:apk-key-hash:abc",
            },
            "campus.ng",
            ("https://campus.ng", "https://www.campus.ng:8443", "android:apk-key-hash:abc"),
        ),
    ],
)
def test_passkeys_belong_to_the_site_that_the_settings_name(
    values: dict[str, Any], party: str, origins: tuple[str, ...]
) -> None:
    read = settings(**values)
    assert (read.relying_party_id, read.relying_origins) == (party, origins)


@pytest.mark.parametrize(
    "origins", ["https://evil.example", "https://notcampus.ng", "campus.ng", "https://campus.ng/x"]
)
def test_an_origin_that_no_browser_would_accept_stops_the_start(origins: str) -> None:
    with pytest.raises(ValidationError, match="PASSKEY_ORIGINS"):
        settings(base_url="https://campus.ng", passkey_origins=origins)
