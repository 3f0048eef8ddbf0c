"""The bank's side of time: transfers and refunds that settle by themselves after a delay."""

import asyncio
import logging
import time
from contextlib import suppress

from sandbox.gateway.refunds import settle_refund
from sandbox.gateway.transfers import settle_next
from sandbox.web import RefusedError
from sandbox.world import World

log = logging.getLogger("sandbox.clearing")

# So many at a time, so that a large batch of payouts does not keep the calls of others waiting.
BATCH_MAX = 50


async def run(world: World) -> None:
    while True:
        world.clearing_wake.clear()
        seconds = run_once(world)
        if seconds == 0:
            # More is due: let requests in between two batches.
            await asyncio.sleep(0)
            continue
        with suppress(TimeoutError):
            await asyncio.wait_for(world.clearing_wake.wait(), seconds)


def run_once(world: World) -> float | None:
    """Settle what is due; returns the seconds until the next one is (None: nothing is waiting)."""
    now = time.time()
    for row in world.database.all(
        "SELECT id FROM transfers WHERE next_move_at <= ? ORDER BY next_move_at LIMIT ?", now, BATCH_MAX
    ):
        try:
            settle_next(world, row["id"])
        except RefusedError as refusal:
            # Only a plan that a control call has overtaken comes here; it must not be tried for ever.
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
