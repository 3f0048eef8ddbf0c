"""Who may call the functions: whoever holds the service role key, or while it is rotated the previous one (specification: Functions)."""

import hashlib
import hmac
from collections.abc import Sequence

from starlette.requests import Request

from common.auth.caller import ANONYMOUS, Caller
from common.observability.logging import get_logger
from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.primitives.problems import Unauthorized

log = get_logger(__name__)


def admit_service(request: Request, offered: str, keys: Sequence[str]) -> Caller:
    """Lets a call with one of the keys in, the current one first, and says so in the log. Raises Unauthorized."""
    # Every key is compared, so that the time tells nothing about which one matched.
    matches = [hmac.compare_digest(offered.encode(), key.encode()) for key in keys]
    # Which key it was can be asked of the log after a compromise; the fingerprint opens nothing.
    facts = {
        "fingerprint": fingerprint_of(offered),
        "method": request.method,
        "path": request.url.path,
        "request_id": request.state.request_id,
    }
    if not any(matches):
        log.warning("audit: service call refused", **facts)
        raise Unauthorized
    if not matches[0]:
        PREVIOUS_KEY_ACCEPTED.labels("service-role-key").inc()
    log.info("audit: service call let in", **facts)
    return ANONYMOUS


def fingerprint_of(key: str) -> str:
    """By which a key is named where it must not stand itself: the first 12 hex digits of its SHA-256."""
    return hashlib.sha256(key.encode()).hexdigest()[:12]
