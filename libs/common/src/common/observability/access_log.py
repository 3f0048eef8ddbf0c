"""The access log: one JSON line for each sign-in, refused call and write, in a log of its own (decision 200).

A line is a record with fixed fields: ids, the template of the route, a status. It has no field for a body, a query, a
header or an address in clear text. `LOG_LEVEL` does not change it; `ACCESS_LOG_ENABLED` does.
"""

import logging
import sys
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

import msgspec

LOGGER: Final = "access"

_log: Final = logging.getLogger(LOGGER)
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


class _Formatter(logging.Formatter):
    """Add the log's name and the service to the encoded line."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._start = _encode({"log": LOGGER, "service": service}).decode()[:-1]

    def format(self, record: logging.LogRecord) -> str:
        return f"{self._start},{record.msg[1:]}"


def start(service: str, *, enabled: bool) -> None:
    """Write the lines of this process to standard output, or none."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_Formatter(service))
    _log.handlers, _log.propagate = [handler], False
    _log.setLevel(logging.INFO)
    _log.disabled = not enabled


def is_enabled() -> bool:
    """Return whether lines are written. Before `start`, as in tests, they are not."""
    return _log.isEnabledFor(logging.INFO)


def write(line: AccessLine) -> None:
    """Write a line. Call `is_enabled` before building it."""
    _log.info(_encode(line).decode())
