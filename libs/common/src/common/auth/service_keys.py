"""Authentication of the functions: the service role key, and during a rotation the previous one (specification:
Functions).
"""

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
    """Admits a call with one of the keys, the current one first, and logs it. Raises Unauthorized."""
    # Every key is compared, so that the duration does not reveal which one matched.
    matches = [hmac.compare_digest(offered.encode(), key.encode()) for key in keys]
    # The fingerprint identifies the key in the log after a compromise; it grants no access.
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
    """Return the first 12 hex digits of a key's SHA-256: its name in logs."""
    return hashlib.sha256(key.encode()).hexdigest()[:12]
