"""The edge's lines of the access log: refused calls and writes (decision 200)."""

from typing import Final
from uuid import UUID

import msgspec

from api_gateway.call import Call
from common.observability import access_log

_REFUSED: Final = frozenset({401, 403, 429})
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def record_access(call: Call) -> None:
    """Write the line of a finished call that was refused or may have changed state; no line for another."""
    route, caller = call.route, call.caller
    if call.method in _READS and call.status not in _REFUSED:
        return
    user_id = None if caller is None else caller.user_id
    key_id: UUID | msgspec.UnsetType = msgspec.UNSET
    if caller is not None and caller.key_scopes is not None:
        # The id of a key is the user id of its calls.
        user_id, key_id = None, caller.id
    if call.status in _REFUSED:
        access_log.write(
            access_log.RefusedCall(
                at=call.instant,
                request_id=call.request_id,
                method=call.method,
                route="unknown" if route is None else route.path,
                caller=user_id,
                api_key=key_id,
                status=call.status,
                permissions=() if route is None or call.status != 403 else route.guard.permissions,
            )
        )
    elif route is not None:
        access_log.write(
            access_log.Write(
                at=call.instant,
                request_id=call.request_id,
                method=call.method,
                route=route.path,
                caller=user_id,
                api_key=key_id,
                status=call.status,
            )
        )
