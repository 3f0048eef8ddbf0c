"""Nigerian bank accounts: banks, the NUBAN check digit, the holder's name, and changes of the account."""

import json
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from typing import Final, Literal

from payouts.domain.errors import AccountQuarantined

# The origin of a row of the history: the vendor, another legal name, or finance.
Change = Literal["set", "legal_name_changed", "quarantined", "released"]

# The list that is shipped: used until the gateway's own list is stored.
BANK_NAMES: Final[dict[str, str]] = {
    bank["code"]: bank["name"]
    for bank in json.loads(resources.files("payouts").joinpath("data/nigerian-banks.json").read_text("utf-8"))
}


@dataclass(frozen=True, slots=True)
class Bank:
    """A bank that accepts transfers: its code at the gateway, and its name."""

    code: str
    name: str


_WEIGHTS: Final = (3, 7, 3) * 5
_PREFIX_BY_LENGTH: Final = {3: "000", 5: "9", 6: ""}


def check_digit_valid(bank_code: str, account_number: str) -> bool | None:
    """Return whether the tenth digit follows from bank and serial; None for a bank code with letters.

    A wrong digit is only a warning: the gateway's name resolution decides.
    """
    prefix = _PREFIX_BY_LENGTH.get(len(bank_code))
    if prefix is None or not bank_code.isdecimal():
        return None
    digits = prefix + bank_code + account_number[:9]
    total = sum(int(digit) * weight for digit, weight in zip(digits, _WEIGHTS, strict=True))
    return (10 - total % 10) % 10 == int(account_number[9])


@dataclass(frozen=True, slots=True)
class NameCheck:
    """Decision about payouts to the details; `reason` explains a rejection to the vendor."""

    verified: bool
    reason: str | None


def check_account_name(legal_name: str, account_name: str | None) -> NameCheck:
    """Compare the names word by word, whatever their order, case, accents and punctuation.

    The account's name must contain every word of the legal name. It may contain more (a middle name), unless the legal
    name is a single word: that alone would match too many account holders.
    """
    if account_name is None:
        return NameCheck(False, "account_number_invalid: the bank knows no such account")
    legal, resolved = _words(legal_name), _words(account_name)
    missing = legal - resolved
    if not legal or missing:
        lacking = ", ".join(sorted(missing)) or "every word"
        return NameCheck(False, f"name_mismatch: the account's name lacks {lacking} of the vendor's legal name")
    if legal.total() == 1 and resolved != legal:
        return NameCheck(False, "name_mismatch: a legal name of one word must be the account's whole name")
    return NameCheck(True, None)


# Marks inside a word: "O'Neil" is "ONEIL" at a bank.
_DROPPED: Final = "'\u2019."


def _words(name: str) -> Counter[str]:
    """Return the words of a name for the comparison. A Counter, so that a doubled name must be doubled on both
    sides.
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    normalized_name = "".join(
        character if character.isalnum() else "" if unicodedata.combining(character) or character in _DROPPED else " "
        for character in plain
    )
    return Counter(normalized_name.split())


@dataclass(frozen=True, slots=True)
class KnownAccounts:
    """A vendor's accounts so far, by fingerprint: the last verified one, and every quarantined one.

    `is_verified`: the present one is.
    """

    last_verified: str | None
    is_verified: bool
    quarantine_reason: str | None
    payouts_from: datetime | None
    ever_verified: bool
    quarantined: frozenset[str]


@dataclass(frozen=True, slots=True)
class ChangeOfAccount:
    """The state of newly set details: their quarantine, and the start of payouts to them.

    `is_present` False: the account before stays the one that payouts go to.
    """

    is_present: bool
    quarantine_reason: str | None
    payouts_from: datetime | None


def check_change(
    known: KnownAccounts, fingerprint: str, name_check: NameCheck, now: datetime, cooling: timedelta
) -> ChangeOfAccount:
    """Return the state of newly set details. Raises AccountQuarantined (409).

    Another account waits out the cooling-off period, unless the vendor never had a verified one. The account that was
    verified last keeps its state. Another verified account ends a quarantine; a quarantined account returns once
    released. Another account that is not verified, by a typo for one, never replaces a verified one.
    """
    if fingerprint in known.quarantined:
        raise AccountQuarantined
    if fingerprint == known.last_verified or not name_check.verified:
        payouts_from = known.payouts_from
    elif known.ever_verified or known.quarantined:
        payouts_from = now + cooling
    else:
        payouts_from = now
    is_present = name_check.verified or not known.is_verified or fingerprint == known.last_verified
    return ChangeOfAccount(is_present, None if name_check.verified else known.quarantine_reason, payouts_from)
