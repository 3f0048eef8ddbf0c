"""Addresses in the messaging app: numbers, and the app's ids of users who hide theirs."""

import os

import pytest

from notifications.deliveries.domain.telephone_numbers import e164_of, is_app_user_id, key_of


def test_the_key_of_a_number_is_not_guessed_without_the_secret() -> None:
    assert key_of(b"a hash key", "+2348030000001") != key_of(os.urandom(8), "+2348030000001")
    assert [e164_of(one) for one in ("2348030000001", "+2348030000001", "1", "", "abc", "٣٤٥٦٧٨")] == [
        "+2348030000001",
        "+2348030000001",
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("NG.13491208655302741918", True),
        ("US.ENT.11815799212886844830", True),
        ("GB.aZ09", True),
        ("+2348030000001", False),
        ("2348030000001", False),
        ("NG.", False),
        ("ng.1349", False),
        ("NG.13 49", False),
        ("NG." + "1" * 129, False),
        ("", False),
    ],
)
def test_an_id_of_the_app_is_not_parsed_as_a_number(address, expected: bool) -> None:
    assert is_app_user_id(address) is expected
