"""Whose wallet it is."""

from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Forbidden


def vendor_of(caller: Caller) -> UUID:
    """The vendor that the caller acts for; Forbidden for a merchant without one."""
    if caller.vendor_id is None:
        raise Forbidden
    return caller.vendor_id
