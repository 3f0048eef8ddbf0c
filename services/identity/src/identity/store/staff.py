"""Staff: the trail of their acts, their roles, grants that wait for a second person, suspensions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from common.database import UnitOfWork
from common.ids import new_id

_RECORD_ACT: Final = """
INSERT INTO staff_acts (id, actor_id, act, subject_kind, subject_id, detail, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
"""


async def record_act(
    uow: UnitOfWork,
    *,
    actor_id: UUID | None,
    act: str,
    subject_kind: str,
    subject_id: UUID,
    detail: Mapping[str, Any],
    now: datetime,
) -> None:
    """One line of the trail, in the transaction of what it tells: `act` is a past participle (`suspended`), the kind a noun
    (`person`, `vendor`). Without an actor it was an operator at the machine, or the first start. A caller can write only in
    their own name. `detail` holds camelCase fields, and nothing secret."""
    await uow.execute(_RECORD_ACT, new_id(), actor_id, act, subject_kind, subject_id, dict(detail), now)
