"""Decisions of two people in a table: preparation, verdict, expiry (contract section 5.5, decision 197).

A service writes the content of its decision and the effect. Who may decide is evaluated in `primitives/decisions`.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Generic, Literal, TypeVar
from uuid import UUID

from common.database.state_changes import allows_change, change_state
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import (
    DECISION,
    DecisionContent,
    DecisionStatus,
    NothingPrepared,
    PreparedDecision,
    Verdict,
    evaluate_approval,
    evaluate_rejection,
)

Content = TypeVar("Content", bound=DecisionContent)


@dataclass(frozen=True, slots=True)
class DecisionTable:
    """A table whose row `key` is a decision. `has_rejection`: it stores the reason of a rejection."""

    name: str
    key: str = "id"
    has_rejection: bool = True

    async def approve(
        self, uow: UnitOfWork, key: UUID, decision: PreparedDecision | None, approved_hash: str, by: UUID, now: datetime
    ) -> bool:
        """Save the approval, and return whether it is new: the caller then executes the decision, in the same
        transaction. Raises the errors of `evaluate_approval`.
        """
        is_new = evaluate_approval(decision, approved_hash, by)
        if is_new:
            await self.save_verdict(uow, key, "approved", by, now)
        return is_new

    async def reject(
        self,
        uow: UnitOfWork,
        key: UUID,
        decision: PreparedDecision | None,
        by: UUID,
        now: datetime,
        reason: str | None = None,
    ) -> bool:
        """Save the rejection, and return whether it is new. Raises the errors of `evaluate_rejection`."""
        is_new = evaluate_rejection(decision, by)
        if is_new:
            await self.save_verdict(uow, key, "rejected", by, now, reason)
        return is_new

    async def save_verdict(
        self,
        uow: UnitOfWork,
        key: UUID,
        verdict: Verdict | Literal["overtaken"],
        by: UUID,
        now: datetime,
        rejection: str | None = None,
    ) -> None:
        """Save a verdict, whatever was evaluated. Raises StateChanged unless the decision is prepared."""
        table, column = self.name, self.key
        if self.has_rejection:
            statement = f"""
UPDATE {table} AS decision SET status = $2, decided_by = $3, decided_at = $4, rejection = $5
WHERE {column} = $1 AND {allows_change(DECISION, "$2")}
"""
            await change_state(uow, statement, key, verdict, by, now, rejection)
            return
        statement = f"""
UPDATE {table} AS decision SET status = $2, decided_by = $3, decided_at = $4
WHERE {column} = $1 AND {allows_change(DECISION, "$2")}
"""
        await change_state(uow, statement, key, verdict, by, now)

    async def expire(self, uow: UnitOfWork, subject: str, subject_id: UUID, now: datetime) -> None:
        """Mark the prepared decision about a subject as expired when its time has passed. `subject` is the column."""
        table = self.name
        statement = f"""
UPDATE {table} AS decision SET status = 'expired' WHERE {subject} = $1 AND status = 'prepared' AND expires_at <= $2
"""
        await uow.execute(statement, subject_id, now)


@dataclass(frozen=True, slots=True)
class Decisions(Generic[Content]):
    """The decisions of a table with their content; each column of `find` but `status` is a field of it.

    `find` selects one by the key that the service chooses: the subject, whose newest decision counts, or the decision's
    own id. The caller holds the subject's lock.
    """

    table: DecisionTable
    content: type[Content]
    find_statement: str

    async def find(self, uow: UnitOfWork, key: UUID) -> tuple[DecisionStatus, Content] | None:
        row = await uow.fetch_row(self.find_statement, key)
        if row is None:
            return None
        values = dict(row)
        return values.pop("status"), self.content(**values)

    async def approve(self, uow: UnitOfWork, key: UUID, approved_hash: str, by: UUID, now: datetime) -> Content | None:
        """Save the approval, and return what is to be executed; None for its repetition.

        Raises the errors of `evaluate_approval`.
        """
        status, decision = await self._find_prepared(uow, key)
        prepared = decision.prepared(status, now)
        is_new = await self.table.approve(uow, decision.id, prepared, approved_hash, by, now)
        return decision if is_new else None

    async def reject(self, uow: UnitOfWork, key: UUID, by: UUID, now: datetime, reason: str) -> Content | None:
        """Save the rejection, and return its decision; None for its repetition.

        Raises the errors of `evaluate_rejection`.
        """
        status, decision = await self._find_prepared(uow, key)
        is_new = await self.table.reject(uow, decision.id, decision.prepared(status, now), by, now, reason)
        return decision if is_new else None

    async def record_if_new(self, uow: UnitOfWork, content: Content, now: datetime) -> bool:
        """Record a prepared decision whose fields are columns; False while an index permits no other one."""
        names = [field.name for field in fields(content)]
        table, columns = self.table.name, ", ".join(names)
        places = ", ".join(f"${place}" for place in range(2, len(names) + 2))
        statement = f"""
INSERT INTO {table} (status, prepared_at, {columns}) VALUES ('prepared', $1, {places}) ON CONFLICT DO NOTHING
"""
        return await uow.execute(statement, now, *(getattr(content, name) for name in names)) == 1

    async def _find_prepared(self, uow: UnitOfWork, key: UUID) -> tuple[DecisionStatus, Content]:
        found = await self.find(uow, key)
        if found is None:
            raise NothingPrepared
        return found
