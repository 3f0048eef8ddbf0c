"""The bank account that a failed refund may go to instead."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Destination:
    """An account as the maker names it. The number is shown to the gateway and kept nowhere here."""

    account_number: str
    bank_code: str
    account_name: str

    @property
    def last4(self) -> str:
        return self.account_number[-4:]


@dataclass(frozen=True, slots=True)
class Recipient:
    """A destination as the gateway knows it: what is kept, and what the second person judges."""

    code: str
    account_last4: str
    bank_code: str
    account_name: str
    name_at_bank: str | None


def names_match(named: str, at_bank: str | None) -> bool:
    """The same words, in any order and case: banks and people write a name differently."""
    return at_bank is not None and _words(named) == _words(at_bank)


def _words(name: str) -> Counter[str]:
    return Counter("".join(dead_letter if dead_letter.isalnum() else " " for dead_letter in name.casefold()).split())
