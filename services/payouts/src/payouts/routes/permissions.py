"""The caller's own vendor."""

from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Forbidden


def vendor_of(caller: Caller) -> UUID:
    """Return the caller's vendor. Raises Forbidden for a merchant without one."""
    if caller.vendor_id is None:
        raise Forbidden
    return caller.vendor_id
