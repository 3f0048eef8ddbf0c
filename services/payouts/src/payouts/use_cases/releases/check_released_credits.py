"""Compare the wallets' credits with what payments signed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.release_statements import CoverCheck, describe_unstated_lines, evaluate_cover, has_covered_lines
from payouts.store import release_checkpoints, release_statements
from payouts.use_cases.releases.steps import verify_statement


async def check_released_credits(
    uow: UnitOfWork, vendor_ids: Sequence[UUID], now: datetime, *, saves_checkpoints: bool = False
) -> dict[UUID, CoverCheck]:
    """Check each vendor by stored rows and their signatures alone: no stored flag is trusted, and no sum without an
    authenticator.

    With `saves_checkpoints` a covered vendor with enough new lines gets a checkpoint, from which later checks continue.
    Only a transaction that locks nothing of the vendor afterwards but its exception may save one.
    """
    checks = {}
    checkpoints = await release_checkpoints.list_checkpoints(uow, sorted(set(vendor_ids)))
    for ledger in await release_statements.read_vendor_ledgers(uow, checkpoints):
        newest = next((statement for statement in ledger.statements if verify_statement(uow, statement)), None)
        verdict = replace(evaluate_cover(ledger.totals, newest, now), has_exception=ledger.totals.has_exception)
        if verdict.cover == "not_released":
            lines = await _unproven_lines(uow, ledger.totals.vendor_id)
            verdict = replace(verdict, detail=verdict.detail + describe_unstated_lines(lines))
        elif saves_checkpoints and newest is not None and has_covered_lines(verdict, ledger.lines_read):
            await release_checkpoints.save_checkpoint(uow, replace(ledger.reached, sequence=newest.sequence), now)
        checks[ledger.totals.vendor_id] = verdict
    return checks


async def _unproven_lines(uow: UnitOfWork, vendor_id: UUID) -> list[str]:
    """Return the lines without a valid statement, for investigation."""
    unstated = await release_statements.list_unstated_lines(uow, vendor_id)
    stated = await release_statements.list_statements_of_lines(uow, vendor_id)
    return unstated + [line_key for line_key, statement in stated if not verify_statement(uow, statement)]
