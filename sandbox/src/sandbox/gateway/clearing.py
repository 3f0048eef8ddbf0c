"""The settlement of transfers and refunds after a delay, as at a bank."""

import asyncio
import logging
import time
from contextlib import suppress

from sandbox.gateway.refunds import settle_refund
from sandbox.gateway.transfers import settle_next
from sandbox.web import RefusedError
from sandbox.world import World

log = logging.getLogger("sandbox.clearing")

# The batch size, so that a large batch of payouts does not block other calls.
BATCH_MAX = 50


async def run(world: World) -> None:
    while True:
        world.clearing_wake.clear()
        seconds = run_once(world)
        if seconds == 0:
            # More are due; requests run between two batches.
            await asyncio.sleep(0)
            continue
        with suppress(TimeoutError):
            await asyncio.wait_for(world.clearing_wake.wait(), seconds)


def run_once(world: World) -> float | None:
    """Settles due transfers and refunds. Returns the seconds until the next one, or None."""
    now = time.time()
    for row in world.database.all(
        "SELECT id FROM transfers WHERE next_move_at <= ? ORDER BY next_move_at LIMIT ?", now, BATCH_MAX
    ):
        try:
            settle_next(world, row["id"])
        except RefusedError as refusal:
            # A control call changed the state before the planned transition, which is not retried.
            log.warning("transfer %d: %s", row["id"], refusal)
            world.database.run("UPDATE transfers SET next_move_at = NULL WHERE id = ?", row["id"])
    for row in world.database.all(
        "SELECT id FROM refunds WHERE next_move_at <= ? ORDER BY next_move_at LIMIT ?", now, BATCH_MAX
    ):
        settle_refund(world, row["id"])
    next_transitions = [
        row["next_move_at"]
        for row in world.database.all(
            "SELECT min(next_move_at) AS next_move_at FROM transfers WHERE next_move_at IS NOT NULL"
            " UNION ALL SELECT min(next_move_at) FROM refunds WHERE next_move_at IS NOT NULL"
        )
        if row["next_move_at"] is not None
    ]
    return max(0.0, min(next_transitions) - time.time()) if next_transitions else None
