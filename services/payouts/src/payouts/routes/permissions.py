"""Who may read what belongs to one vendor and is also staff's business."""

from uuid import UUID

from common.caller import Caller
from common.problems import Forbidden


def must_be_allowed_one_of(caller: Caller, *permissions: str) -> None:
    """Raises Forbidden (403) when the caller holds none of the permissions. Which rows they see, the row policies say."""
    if not any(caller.may(permission) for permission in permissions):
        raise Forbidden


def vendor_of(caller: Caller) -> UUID:
    """The vendor that the caller acts for; Forbidden for a merchant without one."""
    if caller.vendor_id is None:
        raise Forbidden
    return caller.vendor_id
