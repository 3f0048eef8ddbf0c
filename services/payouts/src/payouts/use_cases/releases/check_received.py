"""Compare what the wallets received with what payments signed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.released import CheckResult, evaluate_received, named
from payouts.store import released
from payouts.use_cases.releases.verify_statement import verify_statement


async def check_received(uow: UnitOfWork, vendor_ids: Sequence[UUID], now: datetime) -> dict[UUID, CheckResult]:
    """Judges each vendor from what is stored, signatures included: no stored flag or sum is believed."""
    judged = {}
    for books in await released.read_vendor_books(uow, sorted(set(vendor_ids))):
        newest = next((statement for statement in books.statements if verify_statement(uow, statement)), None)
        verdict = evaluate_received(books.received, newest, now)
        if verdict.cover == "not_released":
            lines = await _unproven_lines(uow, books.received.vendor_id)
            verdict = replace(verdict, detail=verdict.detail + named(lines))
        judged[books.received.vendor_id] = verdict
    return judged


async def _unproven_lines(uow: UnitOfWork, vendor_id: UUID) -> list[str]:
    """For the people who look into it: lines that came with no statement, or with one that proves nothing."""
    unstated = await released.list_unstated_lines(uow, vendor_id)
    stated = await released.list_statements_of_lines(uow, vendor_id)
    return unstated + [line_key for line_key, statement in stated if not verify_statement(uow, statement)]
