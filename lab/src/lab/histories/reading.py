"""Read a recorded history: its operations, and the final reads."""

import itertools
import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

ABSENT: Final = "absent"
_ORDER: Final = re.compile(r"/api/orders/([0-9a-f-]{36})(?:/(.*))?")


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A request and its outcome. `invoked`, `completed`: numbers of lines; an unknown outcome is never complete."""

    process: str
    method: str
    path: str
    query: Sequence[str]
    key: str | None
    user: str | None
    invoked: int
    invoked_at: float
    completed: float = math.inf
    completed_at: float = math.inf
    type: str = "info"
    status: int | None = None
    value: Any = None

    @property
    def order(self) -> tuple[str, str]:
        """The order and what is below it in the path; empty texts for another path."""
        found = _ORDER.fullmatch(self.path)
        return (found[1], found[2] or "") if found else ("", "")

    def __str__(self) -> str:
        moment = time.strftime("%H:%M:%S", time.gmtime(self.invoked_at)) + f".{self.invoked_at % 1 * 1000:03.0f}"
        return f"{self.method} {self.path} of {self.process} at {moment} (line {self.invoked})"


@dataclass(frozen=True, slots=True)
class FinalOrder:
    """An order as its database has it at the end. `timeline`: pairs of event and status; `credits`: its wallet
    lines. One of a purchase has no key of its own.
    """

    status: str
    key: str | None
    at: float
    timeline: Sequence[tuple[str, str | None]]
    credits: int


@dataclass(frozen=True, slots=True)
class FinalPurchase:
    key: str
    at: float


@dataclass(frozen=True, slots=True)
class FinalPayout:
    status: str
    key: str | None
    amount_minor: int


@dataclass(slots=True)
class FinalReads:
    """The databases and the gateway at the end. `transfers`: kobo of each successful one; None: not read."""

    orders: dict[str, FinalOrder] = field(default_factory=dict)
    purchases: dict[str, FinalPurchase] = field(default_factory=dict)
    payouts: dict[str, FinalPayout] = field(default_factory=dict)
    wallets: dict[str, list[str]] = field(default_factory=dict)
    transfers: list[int] | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The operations by their invocation. `final` is None for a history that was cut off."""

    operations: Sequence[Operation]
    final: FinalReads | None

    def invoked_before(self, line: int) -> "Recorded":
        """Return the operations before a restore, of which no final read exists."""
        return Recorded([one for one in self.operations if one.invoked < line], None)

    def restored(self, line: int, instant: float, *, keeps_writes: bool) -> "Recorded":
        """Return the history as the restored databases may explain it.

        A read after the instant says nothing. A write that was acknowledged after it has an unknown outcome, except
        after a failover, which keeps all acknowledged writes.
        """
        kept = []
        for one in self.operations:
            if one.invoked > line or one.completed_at <= instant:
                kept.append(one)
            elif one.method != "GET":
                kept.append(
                    one if keeps_writes or one.type == "fail" else replace(one, type="info", completed=math.inf)
                )
        return Recorded(kept, self.final)


def read_history(path: Path) -> list[Recorded]:
    """Return the history of a file; of one with restores, a further one for each."""
    operations: dict[tuple[str, int], Operation] = {}
    restores: list[tuple[int, float, bool]] = []
    final: FinalReads | None = None
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        line = json.loads(text)
        kind, place = line["type"], (line["process"], line.get("index"))
        if kind == "invoke" and final is not None:
            # After the verdict, such as races without row locks.
            break
        if kind == "invoke":
            fields = {name: line[name] for name in ("process", "method", "path", "query", "key", "user")}
            operations[place] = Operation(**fields, invoked=number, invoked_at=line["time"])
        elif kind == "restore":
            restores.append((number, line["instant"], line.get("keepsWrites", False)))
        elif kind == "final":
            final = final or FinalReads()
            _add_final(final, line)
        else:
            completed = {
                "completed": math.inf if kind == "info" else number,
                "completed_at": line["time"],
                "type": kind,
            }
            operations[place] = replace(
                operations[place], **completed, status=line.get("status"), value=line.get("value")
            )
    whole = Recorded(sorted(operations.values(), key=lambda one: one.invoked), final)
    parts = []
    for line_number, instant, keeps_writes in restores:
        parts.append(whole.invoked_before(line_number))
        whole = whole.restored(line_number, instant, keeps_writes=keeps_writes)
    return [*parts, whole]


def _add_final(final: FinalReads, line: dict[str, Any]) -> None:
    match line["what"]:
        case "order":
            timeline = [(event, status) for event, status in line["timeline"]]
            final.orders[line["id"]] = FinalOrder(line["status"], line["key"], line["at"], timeline, line["credits"])
        case "purchase":
            final.purchases[line["id"]] = FinalPurchase(line["key"], line["at"])
        case "payout":
            final.payouts[line["id"]] = FinalPayout(line["status"], line["key"], line["amountMinor"])
        case "wallet":
            final.wallets[line["id"]] = line["lines"]
        case "transfers":
            final.transfers = line["amounts"]


def merged_by_key(operations: Sequence[Operation]) -> list[Operation]:
    """Return the attempts with one key at one path as one operation, which may have taken effect in any of them."""
    merged: list[Operation] = []
    for (_, key), attempts in itertools.groupby(
        sorted(operations, key=lambda one: (one.path, one.key or "", one.invoked)), lambda one: (one.path, one.key)
    ):
        if key is None:
            merged += attempts
            continue
        first, *later = attempts
        best = min((first, *later), key=lambda one: (("ok", "info", "fail").index(one.type), one.completed))
        merged.append(replace(best, invoked=first.invoked, invoked_at=first.invoked_at))
    return merged
