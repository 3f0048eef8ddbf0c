"""Check a recorded history and the final reads: each anomaly is one sentence that begins with its kind."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from lab.histories.linearization import COMMANDS, Observation, contradiction_of
from lab.histories.reading import (
    ABSENT,
    FinalOrder,
    FinalPayout,
    FinalPurchase,
    FinalReads,
    Operation,
    Recorded,
    merged_by_key,
    read_history,
)
from orders.domain.transitions import ORDER

CHECKOUT: Final = "/api/orders/checkout"
PURCHASE: Final = "/api/purchases"
REQUEST_PAYOUT: Final = "/api/payouts"
STATEMENT: Final = "/api/wallets/current/statement"

_Stored = Mapping[str, FinalOrder] | Mapping[str, FinalPurchase] | Mapping[str, FinalPayout]


def check_file(path: Path) -> list[str]:
    """Return the anomalies of a stored history."""
    return list(dict.fromkeys(found for part in read_history(path) for found in check(part)))


def check(recorded: Recorded) -> Iterator[str]:
    """Yield the anomalies of a history."""
    final = recorded.final or FinalReads()
    is_whole = recorded.final is not None
    stored_of: Mapping[str, _Stored] = {
        CHECKOUT: final.orders,
        PURCHASE: final.purchases,
        REQUEST_PAYOUT: final.payouts,
    }
    yield from _server_errors(recorded.operations)
    for path, stored in stored_of.items():
        created = [one for one in recorded.operations if (one.method, one.path) == ("POST", path)]
        yield from _keys(path, created, stored if is_whole else None)
    yield from _orders(recorded.operations, final, is_whole=is_whole)
    if is_whole:
        yield from _statements(recorded.operations, final.wallets)
    if final.transfers is not None:
        yield from _transfers(recorded.operations, final, final.transfers)


def _server_errors(operations: Sequence[Operation]) -> Iterator[str]:
    """No response is 500: an outage is 503, in every moment of it."""
    counts = Counter(f"{one.method} {one.order[1] or one.path}" for one in operations if one.status == 500)
    for what, times in counts.items():
        yield f"server error: {what} got {times} times 500"


def _keys(path: str, created: Sequence[Operation], stored: _Stored | None) -> Iterator[str]:
    """At most one effect for each key, none of a rejected request, and each acknowledged one at the end."""
    returned: dict[str | None, list[str]] = defaultdict(list)
    for one in created:
        if one.type == "ok" and one.value["id"] not in returned[one.key]:
            returned[one.key].append(one.value["id"])
    by_key: dict[str | None, list[str]] = defaultdict(list)
    for subject, row in (stored or {}).items():
        if row.key is not None:
            by_key[row.key].append(subject)
    for one in merged_by_key(created):
        effects = sorted({*returned[one.key], *by_key[one.key]})
        if one.key is not None and len(effects) > 1:
            yield f"double effect: {one} with key {one.key} has {len(effects)} effects: {', '.join(effects)}"
        if one.type == "fail" and effects:
            yield f"failed operation took effect: {one} was rejected with {one.status}, and {effects[0]} exists"
        if one.type == "ok" and path == REQUEST_PAYOUT and stored is not None and one.value["id"] not in stored:
            yield f"lost acknowledged write: {one} returned {one.value['id']}, which is missing at the end"
    yield from _unrequested(path, created, stored or {}, returned.keys() | {one.key for one in created})


def _unrequested(
    path: str, created: Sequence[Operation], stored: _Stored, requested: Collection[str | None]
) -> Iterator[str]:
    """No order or purchase under a key that no request had, since the first one of them."""
    first = min((one.invoked_at for one in created), default=math.inf)
    for subject, row in stored.items():
        if isinstance(row, FinalPayout) or row.key is None or row.at <= first or row.key in requested:
            continue
        noun = "purchase" if isinstance(row, FinalPurchase) else "order"
        yield f"double effect: {noun} {subject} exists under key {row.key}, which no request of {path} had"


def _orders(operations: Sequence[Operation], final: FinalReads, *, is_whole: bool) -> Iterator[str]:
    for order_id, observations in _observations(operations, final).items():
        order = final.orders.get(order_id)
        if order is None and is_whole and not any(one.command for one in observations):
            continue
        reads = [one.operation for one in observations if one.operation.order[1] == "timeline"]
        yield from _timelines(order_id, reads, order)
        found = _overwritten(order_id, order, observations) if order else None
        found = found or contradiction_of(order_id, observations, order, is_whole=is_whole)
        if found:
            yield found
    for order_id, order in final.orders.items():
        if order.credits > 1:
            yield f"double effect: order {order_id} was credited to a wallet {order.credits} times"
        if order.status == "paid" and not order.credits:
            yield f"lost acknowledged write: order {order_id} is `paid`, and no wallet has its credit"


def _observations(operations: Sequence[Operation], final: FinalReads) -> dict[str, list[Observation]]:
    """Return what was seen of each order: checkouts, commands, and reads of it, of its timeline and of lists."""
    observed: dict[str, list[Observation]] = defaultdict(list)
    readers: set[tuple[str | None, str]] = set()
    order_of_key = {order.key: order_id for order_id, order in final.orders.items()}
    sent = [one for one in operations if one.method == "POST" and (one.path == CHECKOUT or one.order[1] in COMMANDS)]
    for one in merged_by_key(sent):
        value = one.value or {}
        order_id = one.order[0] or value.get("id") or order_of_key.get(one.key or "")
        if one.type != "fail" and order_id:
            seen = value.get("status") if one.type == "ok" else None
            observed[order_id].append(Observation(one, one.order[1] or "checkout", seen))
            readers |= {(one.user, order_id)} if one.path == CHECKOUT else set()
    reads = [(one, *read) for one in operations if one.method == "GET" for read in _states_read(one)]
    readers |= {(one.user, order_id) for one, order_id, seen in reads if seen != ABSENT}
    for one, order_id, seen in reads:
        # Invisible equals absent: a missing order says something to those who may see it only.
        if seen != ABSENT or (one.user, order_id) in readers:
            observed[order_id].append(Observation(one, None, seen))
    return observed


def _states_read(one: Operation) -> Iterator[tuple[str, str]]:
    """Yield each order that a read shows, with its state."""
    order_id, below = one.order
    if one.type == "ok" and one.path == "/api/orders":
        yield from ((row["id"], row["status"]) for row in one.value)
    elif one.type == "ok" and order_id and not below:
        yield order_id, one.value["status"]
    elif one.type == "ok" and below == "timeline":
        yield order_id, [row["status"] for row in one.value if row["status"]][-1]
    elif one.status == 404 and order_id and not below:
        yield order_id, ABSENT


def _timelines(order_id: str, reads: Sequence[Operation], final: FinalOrder | None) -> Iterator[str]:
    """Each read of a timeline is the beginning of each later one, and of the final one."""
    entries = {one: [(row["event"], row["status"]) for row in one.value] for one in reads}
    pairs = [(one, later) for one, later in itertools.permutations(reads, 2) if one.completed < later.invoked]
    for one, later in pairs:
        if entries[later][: len(entries[one])] != entries[one]:
            yield f"not append-only: {later} does not continue what {one} read"
            return
    for one in reads:
        if final is not None and list(final.timeline[: len(entries[one])]) != entries[one]:
            yield f"not append-only: the timeline of {order_id} at the end does not continue what {one} read"
            return


def _overwritten(order_id: str, order: FinalOrder, observations: Sequence[Observation]) -> str | None:
    """Return a sentence about an order whose state does not end its timeline, or an event without a request."""
    state = None
    for event, status in order.timeline:
        if state is not None and status is not None and ORDER.rules[event].to.get(state) != status:  # type: ignore[index, call-overload]
            return f"lost update: the timeline of order {order_id} has `{event}` to `{status}` after `{state}`"
        state = status or state
    if state != order.status:
        return f"lost update: order {order_id} is `{order.status}`, although its timeline ends with `{state}`"
    if not any(one.command == "checkout" for one in observations):
        return None
    events = Counter(event for event, _ in order.timeline)
    sent = Counter(one.command for one in observations)
    for command, triggers in COMMANDS.items():
        count = sum(events[trigger] for trigger in triggers)
        if count > sent[command]:
            kind = "double effect" if sent[command] else "failed operation took effect"
            return (
                f"{kind}: order {order_id} has {count} effects of `{command}` for {sent[command]} requests not rejected"
            )
    return None


def _statements(operations: Sequence[Operation], wallets: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Check that each statement, newest first, is part of the final wallet and covers each one read before it."""
    wallet_of = {line: lines for lines in wallets.values() for line in lines}
    by_user: dict[str | None, list[Operation]] = defaultdict(list)
    for one in operations:
        if one.path == STATEMENT and one.type == "ok" and set(one.query) <= {"limit"}:
            by_user[one.user].append(one)
    for reads in by_user.values():
        shown: list[tuple[Operation, int]] = []
        for one in reads:
            page = [row["id"] for row in reversed(one.value)]
            lines = wallet_of.get(page[-1], []) if page else []
            end = lines.index(page[-1]) + 1 if lines else 0
            if page and (not lines or list(lines[max(0, end - len(page)) : end]) != page):
                yield f"not append-only: the wallet at the end does not continue what {one} read"
                break
            newer = next(
                (read for read, lines_shown in shown if read.completed < one.invoked and lines_shown > end), None
            )
            if newer is not None:
                yield f"stale read: {one} has not all lines of the wallet that {newer} had returned"
                break
            shown.append((one, end))


def _transfers(operations: Sequence[Operation], final: FinalReads, transfers: Sequence[int]) -> Iterator[str]:
    """As many successful transfers of an amount as processed payouts, and none beyond the requested ones."""
    sent, processed, requested = Counter(transfers), Counter[int](), Counter[int]()
    for payout in final.payouts.values():
        requested[payout.amount_minor] += 1
        processed[payout.amount_minor] += payout.status == "processed"
    for one in operations:
        # Acknowledged before a restore that lost it: the gateway may have paid it.
        is_lost = one.path == REQUEST_PAYOUT and one.type == "info" and isinstance(one.value, dict)
        if is_lost and one.value["id"] not in final.payouts:
            requested[one.value["amountMinor"]] += 1
    for amount_minor, count in sorted((sent | processed).items()):
        if sent[amount_minor] > requested[amount_minor]:
            yield (
                f"double effect: {amount_minor} kobo were transferred {count} times for {requested[amount_minor]} "
                "payouts"
            )
        if sent[amount_minor] < processed[amount_minor]:
            yield f"lost acknowledged write: {amount_minor} kobo are paid out, and the gateway has no transfer of them"
