"""Postings as the inputs demand them, and the arithmetic of shares. Kobo, debit positive; no code of the product."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, TypeVar

from lab.replay.recording import RecordedEvent, RecordedUnit

Key = TypeVar("Key")
Value = TypeVar("Value")

NAIRA: Final = "NGN"


@dataclass(frozen=True, slots=True)
class DerivedPosting:
    """A posting that follows from an input: `source` names it."""

    key: str
    type: str
    entries: Mapping[str, int]
    source: str


class NoInput(Exception):
    """No recorded input causes the posting."""


def shares_of(amount_minor: int, parts_minor: Sequence[int]) -> list[int]:
    """Return an amount within the sum of the parts in proportion to them, rounded down; what is missing is added to the
    last parts that have it.
    """
    whole_minor = sum(parts_minor)
    shares = [amount_minor * part // whole_minor if whole_minor else 0 for part in parts_minor]
    for index in reversed(range(len(shares))):
        shares[index] += min(amount_minor - sum(shares), parts_minor[index] - shares[index])
    return shares


class Parts(NamedTuple):
    """An amount by owner: the vendor's share, the commission, the delivery fee."""

    vendor_minor: int = 0
    commission_minor: int = 0
    delivery_fee_minor: int = 0

    @property
    def total_minor(self) -> int:
        return sum(self)

    def share(self, amount_minor: int) -> "Parts":
        """Return the amount in proportion to the parts, rounded down; what is missing is added to the last parts that
        have it.
        """
        return Parts(*shares_of(amount_minor, self))

    def fitted(self, limit: Sequence[int]) -> "Parts":
        """Return the parts cut at their limits; what is cut off is added to the first parts with room."""
        parts = [min(part, most) for part, most in zip(self, limit, strict=True)]
        for index in range(3):
            parts[index] += min(self.total_minor - sum(parts), limit[index] - parts[index])
        return Parts(*parts)

    def plus(self, other: Sequence[int], sign: int = 1) -> "Parts":
        return Parts(*(mine + sign * theirs for mine, theirs in zip(self, other, strict=True)))

    def minus(self, other: Sequence[int]) -> "Parts":
        return self.plus(other, -1)


class Rules(ABC):
    """One ledger as a function of its inputs: a rule for each event and for each kind of posting key."""

    name: ClassVar[str]
    by_event: Mapping[str, Callable[[RecordedEvent], list[DerivedPosting] | DerivedPosting | None]]
    by_kind: Mapping[str, Callable[[str], DerivedPosting]]
    unit: RecordedUnit
    """The transaction of the service whose posting is derived."""

    def of_event(self, event: RecordedEvent) -> list[DerivedPosting]:
        """Return the postings that consuming the event causes."""
        rule = self.by_event.get(event.type)
        postings = None if rule is None else rule(event)
        return [postings] if isinstance(postings, DerivedPosting) else postings or []

    def of_key(self, key: str, unit: RecordedUnit) -> DerivedPosting:
        """Return the posting of the gateway's report or the command that this key names. Raises NoInput."""
        kind, _, subject = key.partition(":")
        if kind not in self.by_kind:
            raise NoInput(f"no rule for the kind {kind!r}, or no event that causes it")
        self.unit = unit
        return self.by_kind[kind](subject)

    @abstractmethod
    def due(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each input of the gateway and of users, and the keys of which one must be posted."""

    def unposted(self) -> list[str]:
        """Return what no posting has ended in a run that has settled, beyond the keys of `due`; nothing by default."""
        return []


def derived(
    key: str, type_: str, debits: Mapping[str, int], credits_: Mapping[str, int], source: str
) -> DerivedPosting:
    """Return a posting of these debits and credits, without those of 0."""
    entries = {account: amount for account, amount in debits.items() if amount}
    entries |= {account: -amount for account, amount in credits_.items() if amount}
    return DerivedPosting(key, type_, entries, source)


def found(among: Mapping[Key, Value], key: Key, what: str) -> Value:
    """Return the value of the key. Raises NoInput, which names what is absent."""
    if key not in among:
        raise NoInput(f"no {what} {key}")
    return among[key]
