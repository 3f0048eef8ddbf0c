"""The fault rules: which call or webhook fails, how, how often and for which key."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.states import STATES
from sandbox.web import RefusedError, hold, ok, refused


class Fault(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """
    One rule. Effects: `duplicate` extra copies, `delay` in seconds, `drop`, `fail` with a reason, `reverse` (true or a
    reason), `timeout` (true: no response; a number: a response after so many seconds; both process the call),
    `error_before` and `error_after` (500 or the status given, without or with effect), `data` (fields of the response
    in place of the true ones). `times`: how often it still applies, without it for ever. `match`: only for this
    reference, account number, amount, phone number or address.
    """

    duplicate: int = 0
    delay: float = 0
    drop: bool = False
    fail: str | None = None
    reverse: bool | str = False
    timeout: bool | float = False
    error_before: bool | int = False
    error_after: bool | int = False
    data: dict[str, Any] | None = None
    times: int | None = None
    match: str | int | None = None


CALL = frozenset({"delay", "timeout", "error_before", "error_after", "fail"})
WEBHOOK = frozenset({"duplicate", "delay", "drop"})

EFFECTS: dict[str, frozenset[str]] = {
    "charge_webhook": WEBHOOK,
    "transfer_webhook": WEBHOOK,
    "refund_webhook": WEBHOOK,
    "dispute_webhook": WEBHOOK,
    "transfer_call": CALL | {"reverse"},
    "initialize_call": CALL,
    "charge_call": CALL | {"data"},
    "verify_call": CALL | {"data"},
    "list_call": CALL,
    # One row of a list, by its id or reference.
    "listed_row": frozenset({"data"}),
    "resolve_call": CALL,
    "refund_call": CALL,
    "dispute_call": CALL,
    "balance_call": CALL,
    "bank_call": CALL,
    "sms": CALL,
    "sms_termii": CALL,
    "sms_africas_talking": CALL,
    "sms_twilio": CALL,
    "sms_receipt": WEBHOOK | {"fail"},
    "messaging_status": WEBHOOK | {"fail"},
    "messaging": CALL,
    "push": CALL,
    "push_token": CALL,
    "on_call": CALL,
    "smtp": CALL - {"error_before", "error_after"},
    **dict.fromkeys(STATES, frozenset({"fail"})),
}
QUALIFIERS = frozenset({"times", "match"})

# More copies of one webhook than any receiver must prove itself against.
DUPLICATES_MAX = 100

# A day, longer than any test of a fault.
WAIT_SECONDS_MAX = 86_400

Rules = dict[str, list[Fault]]


def parse_rules(body: dict[str, Any]) -> Rules:
    """Check a set of rules: kind to one rule, a list of rules, or null. Raises RefusedError 400 with the reason."""
    return {kind: _parse_kind(kind, given) for kind, given in body.items()}


def _parse_kind(kind: str, given: Any) -> list[Fault]:
    if kind not in EFFECTS:
        raise RefusedError(400, f"Unknown kind of fault {kind!r}; known: {', '.join(sorted(EFFECTS))}")
    listed = [] if given is None else given if isinstance(given, list) else [given]
    try:
        rules = msgspec.convert(listed, list[Fault])
    except msgspec.ValidationError as problem:
        raise RefusedError(400, f"Fault {kind}: {problem}") from None
    for rule in rules:
        _check_rule(kind, rule)
    return rules


def _check_rule(kind: str, rule: Fault) -> None:
    effects = set(msgspec.to_builtins(rule)) - QUALIFIERS
    if not effects:
        raise RefusedError(400, f"Fault {kind} names no effect")
    if foreign := effects - EFFECTS[kind]:
        raise RefusedError(
            400, f"Fault {kind} cannot {', '.join(sorted(foreign))}; it can {', '.join(sorted(EFFECTS[kind]))}"
        )
    if not 0 <= rule.duplicate <= DUPLICATES_MAX or not 0 <= rule.delay <= WAIT_SECONDS_MAX:
        raise RefusedError(400, f"Fault {kind}: duplicate or delay is out of range")
    if not 0 <= rule.timeout <= WAIT_SECONDS_MAX:
        raise RefusedError(400, f"Fault {kind}: timeout is out of range")
    if not all(error in (False, True) or 400 <= error <= 599 for error in (rule.error_before, rule.error_after)):
        raise RefusedError(400, f"Fault {kind}: the status of an error is from 400 to 599")
    if rule.times is not None and rule.times < 1:
        raise RefusedError(400, f"Fault {kind}: times must be at least 1")
    if kind in STATES:
        _check_state(kind, rule)


def _check_state(kind: str, rule: Fault) -> None:
    state = STATES[kind].get(str(rule.match))
    if state is None:
        raise RefusedError(400, f"Fault {kind}: match must be one of {', '.join(sorted(STATES[kind]))}")
    if re.fullmatch(state.others, rule.fail or "") is None:
        raise RefusedError(400, f"Fault {kind}: the state of {rule.match} must match {state.others}")


class Faults:
    """The active rules. They are stored in the database, so they survive a restart."""

    def __init__(self, database: Database) -> None:
        self._database = database
        stored = database.read_setting("faults")
        self.rules: Rules = {} if stored is None else msgspec.json.decode(stored, type=Rules)

    def replace(self, rules: Rules) -> None:
        """Set the rules of the kinds named; the other kinds keep theirs."""
        merged = {**self.rules, **rules}
        self.rules = {kind: listed for kind, listed in merged.items() if listed}
        self._save()

    def reset(self) -> None:
        self.rules = {}
        self._save()

    def claim_fault(self, kind: str, *keys: str) -> Fault | None:
        """Return the first rule of this kind that fits one of the keys; a counted rule is used up by one."""
        listed = self.rules.get(kind)
        if not listed:
            return None
        for position, rule in enumerate(listed):
            if rule.match is None or str(rule.match) in keys:
                self._use_up(kind, position, rule)
                return rule
        return None

    def state(self, kind: str, name: str) -> str:
        """Return the present state of what `STATES` lists: that of its fault, else the sound one."""
        fault = self.claim_fault(kind, name)
        return STATES[kind][name].sound if fault is None or fault.fail is None else fault.fail

    def _use_up(self, kind: str, position: int, rule: Fault) -> None:
        if rule.times is None:
            return
        left = [msgspec.structs.replace(rule, times=rule.times - 1)] if rule.times > 1 else []
        listed = self.rules[kind]
        self.replace({kind: [*listed[:position], *left, *listed[position + 1 :]]})

    def _save(self) -> None:
        self._database.save_setting("faults", msgspec.json.encode(self.rules).decode())


# Marks a response that a fault rule changed.
FAULT_HEADER = "x-sandbox-fault"

Work = Callable[[Fault | None], Response]
Refuse = Callable[[int, str], Response]


async def respond_with_faults(
    request: Request, faults: Faults, kind: str, keys: tuple[str, ...], work: Work, refuse: Refuse | None = None
) -> Response:
    """
    Process one call and respond, with the faults of the active rules.

    `refuse` writes the provider's own error for `fail` and for the statuses; without it, `fail` is left to the work (a
    transfer is accepted and fails later) and an error has the gateway's envelope.
    """
    fault = faults.claim_fault(kind, *keys)
    if fault is None:
        return work(None)
    response = await _respond_with_fault(request, fault, work, refuse)
    response.headers[FAULT_HEADER] = kind
    return response


async def _respond_with_fault(request: Request, fault: Fault, work: Work, refuse: Refuse | None) -> Response:
    error = refuse or refused
    if fault.delay:
        await hold(request, fault.delay)
    if fault.error_before:
        return _error(error, fault.error_before)
    if fault.fail is not None and refuse is not None:
        return refuse(400, fault.fail)
    response = work(fault) if fault.data is None else _respond_with_data(work, fault, fault.data)
    if fault.timeout:
        await hold(request, None if fault.timeout is True else fault.timeout)
    return _error(error, fault.error_after) if fault.error_after else response


def _error(error: Refuse, status: bool | int) -> Response:
    if status is True or status == 500:
        return error(500, "Internal server error")
    response = error(status, "Rejected by a fault rule")
    if status == 429:
        response.headers["retry-after"] = "1"
    return response


def _respond_with_data(work: Work, fault: Fault, data: dict[str, Any]) -> Response:
    """Return the response with some fields replaced; the fields alone where the gateway has nothing to show."""
    try:
        body = msgspec.json.decode(work(fault).body)
    except RefusedError:
        body = {}
    return ok(body.get("message", ""), {**(body.get("data") or {}), **data})
