"""The access log: one JSON line for each sign-in, refused call and write, in a log of its own (decision 200).

A line is a record with fixed fields: ids, the template of the route, a status. It has no field for a body, a query, a
header or an address in clear text. `LOG_LEVEL` does not change it; `ACCESS_LOG_ENABLED` does.
"""

import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TextIO
from uuid import UUID

import msgspec

LOGGER: Final = "access"

_encode: Final = msgspec.json.Encoder().encode


class AccessLine(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """A line of the access log. `request_id` is that of the process' log and of the response."""

    at: datetime
    request_id: str


class CallLine(AccessLine, frozen=True, kw_only=True):
    """A call at the edge. `route` is the template; `caller` is the user of a verified token, `api_key` the
    id of an API key, absent for a user.
    """

    method: str
    route: str
    caller: UUID | None
    status: int
    api_key: UUID | msgspec.UnsetType = msgspec.UNSET


class Write(CallLine, frozen=True, kw_only=True, tag="write"):
    """A call that may change state, with the status of its response."""


class RefusedCall(CallLine, frozen=True, kw_only=True, tag="refused"):
    """A call with status 401, 403 or 429. `permissions`: any of them was needed; empty for another reason."""

    permissions: tuple[str, ...] = ()


class SignIn(AccessLine, frozen=True, kw_only=True, tag="sign_in"):
    """A sign-in or its second factor. `account` is null where it is unknown, `code` is the error of a refusal.

    `address_hash` is the keyed hash of the client's address, equal for equal addresses; empty without an address.
    """

    method: str
    outcome: Literal["success", "refused"]
    account: UUID | None
    code: str | None
    address_hash: str


@dataclass(slots=True)
class _AccessLog:
    """Where lines are written, and how each one starts."""

    output: TextIO | None = None
    start: str = ""


_log: Final = _AccessLog()


def start(service: str, *, enabled: bool, output: TextIO | None = None) -> None:
    """Write the lines of this process to `output`, by default standard output, or none."""
    _log.output = (output or sys.stdout) if enabled else None
    _log.start = _encode({"log": LOGGER, "service": service}).decode()[:-1]


def is_enabled() -> bool:
    """Return whether lines are written. Before `start` they are not."""
    return _log.output is not None


def write(line: AccessLine) -> None:
    """Write a line. Call `is_enabled` before building it.

    A record of `logging` would take three times as long, a fortieth of a keyed POST at the edge.
    """
    if (output := _log.output) is not None:
        # Where standard output is closed or full, the call goes on, as with the log of the process.
        with suppress(OSError):
            output.write(f"{_log.start},{_encode(line)[1:].decode()}\n")
            output.flush()
