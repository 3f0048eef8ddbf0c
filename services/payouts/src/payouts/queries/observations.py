"""Recent payouts: attempts, failures and their causes."""

from datetime import datetime, timedelta
from typing import Final

from common.database.unit_of_work import UnitOfWork
from contracts.severities import Severity
from payouts.domain.failure_rate import SWITCH_FAILURES_OF_ONE_BANK, SWITCH_WINDOW, ObservedFailureRate, OpenAlert
from payouts.domain.severity import CAUSES, RESPOND_WITHIN, SWITCH_CAUSES, Cause

# An attempt belongs to the window by its start or by its failure: an old attempt that fails now counts now. Of two
# exceptions of one attempt the newer one gives the cause. A batch that was stopped as a whole is one failed attempt. An
# exception that holds a vendor is no attempt and is not counted.
_OBSERVE_WINDOW: Final = """
WITH seen AS (
    SELECT DISTINCT ON (coalesce(e.transfer_id, e.id)) e.transfer_id, e.batch_id, e.severity, e.cause
    FROM payout_exceptions AS e
    WHERE e.opened_at > $1 AND e.opened_at <= $2 AND (e.transfer_id IS NOT NULL OR e.batch_id IS NOT NULL)
    ORDER BY coalesce(e.transfer_id, e.id), e.opened_at DESC, e.id DESC
)
SELECT
    (SELECT count(*) FROM (SELECT id FROM payout_transfers WHERE created_at > $1 AND created_at <= $2
                           UNION SELECT transfer_id FROM seen WHERE transfer_id IS NOT NULL
                           UNION SELECT batch_id FROM seen WHERE batch_id IS NOT NULL) AS attempt) AS attempts,
    (SELECT count(*) FROM seen) AS failures,
    (SELECT coalesce(jsonb_object_agg(severity, n), '{}')
     FROM (SELECT severity, count(*) AS n FROM seen GROUP BY severity) AS s) AS by_severity,
    (SELECT coalesce(jsonb_object_agg(cause, n), '{}')
        FROM (SELECT cause, count(*) AS n FROM seen GROUP BY cause) AS c) AS by_cause
"""
_FIND_ALERT: Final = "SELECT raised_at, calm_since FROM standing_alerts WHERE dedup_key = $1"
_FIND_KEYS: Final = "SELECT dedup_key FROM standing_alerts WHERE starts_with(dedup_key, $1)"
_TROUBLED_BANKS: Final = """
SELECT v.bank_code, count(*) FILTER (WHERE e.opened_at > $2) AS recent FROM payout_exceptions AS e
JOIN payout_transfers AS t ON t.id = e.transfer_id
JOIN bank_detail_versions AS v ON v.id = t.bank_details_version_id
WHERE e.status = 'open' AND e.cause = ANY ($1) GROUP BY v.bank_code
"""


async def observe_window(
    uow: UnitOfWork, now: datetime, window: timedelta
) -> tuple[ObservedFailureRate, dict[Severity, int], dict[Cause, int]]:
    """Return the attempts and failures of the window that ends now, and its exceptions by severity and by cause."""
    row = await uow.fetch_row(_OBSERVE_WINDOW, now - window, now)
    if row is None:
        raise AssertionError("the statement always gives a row")
    by_severity = {severity: row["by_severity"].get(severity, 0) for severity in RESPOND_WITHIN}
    by_cause = {cause: row["by_cause"].get(cause, 0) for cause in CAUSES}
    return ObservedFailureRate(row["attempts"], row["failures"]), by_severity, by_cause


async def find_open_alert(uow: UnitOfWork, dedup_key: str) -> OpenAlert | None:
    """Return the open alert of that key."""
    row = await uow.fetch_row(_FIND_ALERT, dedup_key)
    return None if row is None else OpenAlert(*row)


async def list_open_alert_keys(uow: UnitOfWork, prefix: str) -> list[str]:
    """Return the keys of open alerts with this prefix."""
    return [row["dedup_key"] for row in await uow.fetch(_FIND_KEYS, prefix)]


async def list_troubled_banks(uow: UnitOfWork, now: datetime) -> dict[str, bool]:
    """Return the banks with open exceptions at their switch; true where several of them opened lately."""
    rows = await uow.fetch(_TROUBLED_BANKS, list(SWITCH_CAUSES), now - SWITCH_WINDOW)
    return {row["bank_code"]: row["recent"] >= SWITCH_FAILURES_OF_ONE_BANK for row in rows}
