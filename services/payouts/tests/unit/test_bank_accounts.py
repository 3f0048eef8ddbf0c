from datetime import UTC, datetime, timedelta

import pytest

from payouts.domain.bank_accounts import (
    BANK_NAMES,
    KnownAccounts,
    NameCheck,
    check_account_name,
    check_change,
    check_digit_valid,
)
from payouts.domain.errors import AccountQuarantined


@pytest.mark.parametrize(
    ("bank_code", "account_number", "valid"),
    [
        ("011", "0000014579", True),
        ("011", "0000014578", False),
        ("058", "0123456785", True),
        # The digits sum to a multiple of ten.
        ("058", "0000000070", True),
        ("058", "0000000071", False),
        # An institution with a code of six digits has no prefix.
        ("090267", "1234567893", True),
        ("090267", "1234567894", False),
        # No digit follows from letters, or from a code of another length.
        ("035A", "0000014579", None),
        ("03A", "0000014579", None),
        ("0902671", "0000014579", None),
        ("58", "0000014579", None),
    ],
)
def test_the_check_digit_follows_from_bank_and_serial(bank_code: str, account_number: str, valid: bool | None) -> None:
    assert check_digit_valid(bank_code, account_number) is valid


def test_a_bank_code_of_five_digits_is_prefixed_with_nine() -> None:
    digits = [digit for digit in "0123456789" if check_digit_valid("50931", f"000000001{digit}")]
    weighted = sum(int(digit) * weight for digit, weight in zip("950931000000001", (3, 7, 3) * 5, strict=True))
    assert digits == [str(-weighted % 10)]


def test_the_bank_list_is_the_bundled_one() -> None:
    assert len(BANK_NAMES) == 44
    assert BANK_NAMES["058"] == "Guaranty Trust Bank"


@pytest.mark.parametrize(
    ("legal_name", "account_name"),
    [
        ("Ada Obi Ventures", "ADA OBI VENTURES"),
        ("Ada Obi Ventures", "Ventures, Obi Ada"),
        ("Ada Obi", "OBI ADA CHIDINMA"),
        ("O'Neil & Sons Ltd.", "ONEIL SONS LTD"),
        ("Adé-Balógun Stores", "ADE BALOGUN STORES"),
        ("Chidi", "CHIDI"),
    ],
)
def test_names_match_by_words_whatever_their_order_case_and_punctuation(legal_name: str, account_name: str) -> None:
    assert check_account_name(legal_name, account_name).verified


@pytest.mark.parametrize(
    ("legal_name", "account_name", "sign"),
    [
        ("Ada Obi Ventures", "BOLA ADE STORES", "ada, obi, ventures"),
        ("Ada Obi Ventures", "ADA OBI", "ventures"),
        ("Ada Ada Stores", "ADA STORES", "ada"),
        ("Chidi", "CHIDI OKAFOR", "one word"),
        ("Ada Obi Ventures", "", "ada"),
        ("&", "ANY BODY", "every word"),
        ("Ada Obi Ventures", None, "no such account"),
    ],
)
def test_another_name_is_rejected_with_the_missing_part_as_the_reason(
    legal_name: str, account_name: str | None, sign: str
) -> None:
    name_check = check_account_name(legal_name, account_name)
    assert not name_check.verified
    assert name_check.reason is not None
    assert sign in name_check.reason


NOW, COOLING = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1)
EARLIER, VERIFIED, REFUSED = NOW - timedelta(days=9), NameCheck(True, None), NameCheck(False, "name_mismatch")


@pytest.mark.parametrize(
    ("known", "name_check", "reason", "payouts_from"),
    [
        (KnownAccounts(None, False, None, None, False, frozenset()), VERIFIED, None, NOW),
        (KnownAccounts(None, False, None, NOW, False, frozenset()), VERIFIED, None, NOW),
        (KnownAccounts("old", True, None, EARLIER, True, frozenset()), REFUSED, None, EARLIER),
        (KnownAccounts("old", True, None, EARLIER, True, frozenset()), VERIFIED, None, NOW + COOLING),
        (KnownAccounts("new", True, None, EARLIER, True, frozenset()), VERIFIED, None, EARLIER),
        (KnownAccounts("new", True, None, None, True, frozenset()), VERIFIED, None, None),
        (KnownAccounts("old", False, "fraud", EARLIER, True, frozenset({"old"})), VERIFIED, None, NOW + COOLING),
        (KnownAccounts("old", False, "fraud", EARLIER, True, frozenset({"old"})), REFUSED, "fraud", EARLIER),
        (KnownAccounts(None, False, "fraud", NOW, False, frozenset({"typo"})), VERIFIED, None, NOW + COOLING),
    ],
)
def test_another_account_cools_off_and_only_a_verified_one_ends_a_quarantine(
    known, name_check, reason: str | None, payouts_from
) -> None:
    change = check_change(known, "new", name_check, NOW, COOLING)
    assert (change.quarantine_reason, change.payouts_from) == (reason, payouts_from)


@pytest.mark.parametrize("present", ["new", "other", None])
def test_an_account_that_was_ever_quarantined_never_comes_back(present: str | None) -> None:
    with pytest.raises(AccountQuarantined):
        check_change(KnownAccounts(present, True, None, NOW, True, frozenset({"new"})), "new", VERIFIED, NOW, COOLING)


@pytest.mark.parametrize(
    ("last_verified", "is_verified", "name_check", "is_present"),
    [
        ("old", True, REFUSED, False),
        ("old", True, VERIFIED, True),
        # The bank no longer confirms the present account itself.
        ("new", True, REFUSED, True),
        ("old", False, REFUSED, True),
        (None, False, REFUSED, True),
    ],
)
def test_an_account_that_is_not_verified_replaces_no_verified_one(
    last_verified: str | None, is_verified: bool, name_check, is_present: bool
) -> None:
    known = KnownAccounts(last_verified, is_verified, None, EARLIER, last_verified is not None, frozenset())
    assert check_change(known, "new", name_check, NOW, COOLING).is_present is is_present
