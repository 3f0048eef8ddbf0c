"""The providers' clock: what they do later is done now."""

import time
from datetime import datetime
from sqlite3 import Row

from starlette.requests import Request
from starlette.responses import Response

from sandbox.clock import moment_text
from sandbox.gateway.disputes import find_dispute, move_dispute
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import World, world_of

# A chargeback's deadline is days away; a year is more than any provider waits.
ADVANCE_SECONDS_MAX = 366 * 86_400


async def advance_clock(request: Request) -> Response:
    """Everything that the providers do later happens `seconds` earlier: bank transfers and refunds, webhooks and their
    retries, delivery reports, and the deadlines of chargebacks, which are lost without a response.

    The marketplace's own clock does not change; its times are settings such as `PAYMENT_WINDOW_SECONDS`.
    """
    body, world = await read_json(request), world_of(request)
    seconds = body.get("seconds")
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds <= ADVANCE_SECONDS_MAX:
        raise RefusedError(400, f"seconds must be a number above 0 and up to {ADVANCE_SECONDS_MAX}")
    return JsonResponse(advance(world, float(seconds)))


def advance(world: World, seconds: float) -> dict[str, float | int]:
    """Move all planned times closer, and wake the workers. Returns how many of each kind are due now."""
    now = time.time()
    with world.database.transaction():
        for table in ("transfers", "refunds"):
            world.database.run(
                f"UPDATE {table} SET next_move_at = next_move_at - ? WHERE next_move_at IS NOT NULL", seconds
            )
        world.database.run(
            "UPDATE webhooks SET next_attempt_at = next_attempt_at - ? WHERE status = 'pending'", seconds
        )
    due = {
        table: _count(world, f"SELECT count(*) AS due FROM {table} WHERE {column} <= ?{rest}", now)
        for table, column, rest in (
            ("transfers", "next_move_at", ""),
            ("refunds", "next_move_at", ""),
            ("webhooks", "next_attempt_at", " AND status = 'pending'"),
        )
    }
    expired = [dispute for dispute in _bring_disputes_closer(world, seconds) if dispute["due_at"] <= moment_text(now)]
    for dispute in expired:
        move_dispute(world, dispute, "expire")
    world.clearing_wake.set()
    world.webhook_sender.wake()
    return {"seconds": seconds, **due, "disputes": len(expired)}


def _count(world: World, statement: str, now: float) -> int:
    row = world.database.one(statement, now)
    return 0 if row is None else int(row["due"])


def _bring_disputes_closer(world: World, seconds: float) -> list[Row]:
    """Move the deadlines of open disputes closer, and return these disputes."""
    rows = world.database.all(
        "SELECT id, due_at FROM disputes WHERE status = 'awaiting-merchant-feedback' AND due_at IS NOT NULL"
    )
    for row in rows:
        earlier = moment_text(datetime.fromisoformat(row["due_at"]).timestamp() - seconds)
        world.database.run("UPDATE disputes SET due_at = ? WHERE id = ?", earlier, row["id"])
    found = (find_dispute(world.database, row["id"]) for row in rows)
    return [dispute for dispute in found if dispute is not None]
