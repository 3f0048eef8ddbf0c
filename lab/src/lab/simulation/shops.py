"""The steps of a shop's key and packer, whose access ends meanwhile. `sentence: outcome` is a line of a report."""

from typing import Any, Final
from uuid import UUID, uuid4

import httpx

from common.auth.api_keys import KEY_AUDIENCE
from common.primitives.ids import new_id
from lab.simulation.run import Run
from lab.simulation.situations import KeyEnd, Removal
from lab.simulation.step import Order, step
from lab.stepped.actions import with_pin
from lab.stepped.actors import User
from lab.stepped.reached import REACHED

_SERVICE: Final = "orders-api"
_STATUS: Final = {"scope ends": 403, "revocation arrives": 401}
_SCOPES: Final = "shop_orders:read shop_orders:dispatch"
_LEFT: Final = "shop_orders:read"


@step("a key dispatches order {order}; then its {end}, and it repeats the request")
async def dispatch_by_key(run: Run, order: Order, end: KeyEnd) -> str:
    market, path = run.market, f"/api/orders/{order.id}/dispatch"
    shop = {"vendor_id": run.vendors[order.seller].claims["vendor_id"], "aud": KEY_AUDIENCE}
    key = User(new_id(), {**shop, "scope": _SCOPES})
    idempotency_key = str(uuid4())
    first = await market.request_once("POST", path, key, {}, idempotency_key)
    await market.wait_for_retry()
    if end == "scope ends":
        key = User(key.id, {**shop, "scope": _LEFT})
    repeated, new = [
        await _send_revoked(run, path, key, {}, one, is_revoked=end == "revocation arrives")
        for one in (idempotency_key, str(uuid4()))
    ]
    # The edge, which receives the revocation later, may return the stored response.
    allowed = {_STATUS[end], *([_status_of(first)] if end == "revocation arrives" else [])}
    _check(run, f"order {order.id} by a key whose {end}", new, {_STATUS[end]})
    _check(run, f"order {order.id} again by a key whose {end}", repeated, allowed)
    if _status_of(new) == _STATUS[end] and (_is_lost(first) or _status_of(first) == 200):
        REACHED.add(f"key: its {end} after {'a lost response' if _is_lost(first) else 'a response'}")
    return f"{_status_of(first)}, {_status_of(repeated)}, {_status_of(new)}"


@step("a packer enters the PIN of order {order}, and is removed {when} it")
async def hand_over_by_packer(run: Run, order: Order, when: Removal) -> str:
    market, path = run.market, f"/api/packing-orders/{order.id}/verify-delivery"
    body = {"pin": (await with_pin(market, order.facts, order.buyer))["pin"]}
    shop = run.vendors[order.seller].claims["vendor_id"]
    session = new_id()
    packer = User(new_id(), {"roles": ("buyer", "shop_packer"), "packing_vendor_id": shop, "session_id": str(session)})
    process = market.processes[_SERVICE]
    if when == "during":
        market.effects.meanwhile[_SERVICE, "commit"] = lambda: process.end_session(session)
    first = await _send_revoked(run, path, packer, body, str(uuid4()), is_revoked=when == "before")
    market.effects.meanwhile.clear()
    again = await _send_revoked(run, path, packer, body, str(uuid4()), is_revoked=True)
    _check(run, f"the PIN of order {order.id} by a removed packer", again, {401})
    if when == "before":
        _check(run, f"the PIN of order {order.id} by a packer removed before", first, {401})
    if _status_of(again) == 401 and _status_of(first) == (401 if when == "before" else 200):
        REACHED.add(f"member: removed {when} the PIN")
    return f"{_status_of(first)}, {_status_of(again)}"


async def _send_revoked(
    run: Run, path: str, user: User, body: dict[str, Any], idempotency_key: str, *, is_revoked: bool
) -> httpx.Response | None:
    """Send a request, where orders has received the end of the session and the edge has not."""
    if is_revoked:
        run.market.processes[_SERVICE].end_session(UUID(user.claims.get("session_id", str(user.id))))
    return await run.market.request_once("POST", path, user, body, idempotency_key)


def _check(run: Run, what: str, response: httpx.Response | None, allowed: set[int]) -> None:
    if not _is_lost(response) and _status_of(response) not in allowed:
        run.problems.append(f"{what}: {_status_of(response)}, expected: {sorted(allowed)}")


def _is_lost(response: httpx.Response | None) -> bool:
    """Return whether a process died, so that the sender does not know the result."""
    return response is None or response.status_code > 500


def _status_of(response: httpx.Response | None) -> int:
    return 0 if response is None else response.status_code
