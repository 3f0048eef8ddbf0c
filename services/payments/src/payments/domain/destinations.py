"""The bank account that receives a failed refund instead of its charge."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Destination:
    """An account as the maker named it. Only the gateway receives the number; it is not stored here."""

    account_number: str
    bank_code: str
    account_name: str

    @property
    def last4(self) -> str:
        return self.account_number[-4:]


class Recipient(NamedTuple):
    """A destination that the gateway registered: the stored fields, which the checker reads."""

    code: str
    account_last4: str
    bank_code: str
    account_name: str
    name_at_bank: str | None


def names_match(named: str, at_bank: str | None) -> bool:
    """Return whether both names have the same words, in any order and case."""
    return at_bank is not None and _words(named) == _words(at_bank)


def _words(name: str) -> Counter[str]:
    return Counter("".join(character if character.isalnum() else " " for character in name.casefold()).split())
