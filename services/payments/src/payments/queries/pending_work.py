"""Work that waits for staff in payments (contract section 13.6)."""

from typing import Final

from common.standard_endpoints.pending_work import WorkKind
from payments.queries.chargebacks import AWAITING_RESPONSE
from payments.queries.goodwill import AWAITING_GOODWILL
from payments.queries.quarantine import AWAITING_CHARGES
from payments.queries.refunds import AWAITING_REFUNDS
from payments.queries.withdrawals import AWAITING_WITHDRAWALS

_PREPARED_REFUNDS: Final = """
SELECT d.prepared_at AS since, NULL::timestamptz AS due
FROM refunds f JOIN refund_decisions d ON d.refund_id = f.id AND d.status = 'prepared' WHERE {}
"""
_PREPARED_CHARGES: Final = """
SELECT d.prepared_at AS since, NULL::timestamptz AS due
FROM quarantined_charges q JOIN quarantine_decisions d ON d.quarantined_charge_id = q.id AND d.status = 'prepared'
WHERE {}
"""
_PREPARED_WITHDRAWALS: Final = """
SELECT d.prepared_at AS since, NULL::timestamptz AS due
FROM withdrawals w JOIN withdrawal_decisions d ON d.withdrawal_id = w.id AND d.status = 'prepared' WHERE {}
"""

PENDING_WORK: Final = (
    WorkKind(
        "quarantined_charges_to_prepare",
        ("quarantine:prepare",),
        "/api/quarantined-charges?awaiting=preparation",
        (
            "SELECT q.created_at AS since, NULL::timestamptz AS due FROM quarantined_charges q WHERE "
            f"{AWAITING_CHARGES['preparation']}"
        ),
    ),
    WorkKind(
        "quarantined_charges_to_approve",
        ("quarantine:approve",),
        "/api/quarantined-charges?awaiting=approval",
        _PREPARED_CHARGES.format(AWAITING_CHARGES["approval"]),
    ),
    WorkKind(
        "refunds_to_prepare",
        ("refunds:prepare",),
        "/api/refunds?awaiting=preparation",
        (
            "SELECT f.created_at AS since, NULL::timestamptz AS due FROM refunds f WHERE "
            f"{AWAITING_REFUNDS['preparation']}"
        ),
    ),
    WorkKind(
        "refunds_to_approve",
        ("refunds:approve",),
        "/api/refunds?awaiting=approval",
        _PREPARED_REFUNDS.format(AWAITING_REFUNDS["approval"]),
    ),
    WorkKind(
        "withdrawals_to_prepare",
        ("refunds:prepare",),
        "/api/withdrawals?awaiting=preparation",
        (
            "SELECT w.created_at AS since, NULL::timestamptz AS due FROM withdrawals w WHERE "
            f"{AWAITING_WITHDRAWALS['preparation']}"
        ),
    ),
    WorkKind(
        "withdrawals_to_approve",
        ("refunds:approve",),
        "/api/withdrawals?awaiting=approval",
        _PREPARED_WITHDRAWALS.format(AWAITING_WITHDRAWALS["approval"]),
    ),
    WorkKind(
        "goodwill_refunds_to_approve",
        ("goodwill:approve",),
        "/api/goodwill-refunds?awaiting=approval",
        f"""
        SELECT g.prepared_at AS since, NULL::timestamptz AS due FROM goodwill_refunds g WHERE {AWAITING_GOODWILL}
        """,
    ),
    WorkKind(
        "chargebacks_to_answer",
        ("ledger:read", "chargebacks:respond"),
        "/api/chargebacks?awaiting=answer",
        f"SELECT b.opened_at AS since, b.due_at AS due FROM chargebacks b WHERE {AWAITING_RESPONSE}",
    ),
    WorkKind(
        "reconciliation_cases",
        ("exceptions:read", "exceptions:classify"),
        "/api/reconciliation-cases?status=open",
        "SELECT opened_at AS since, NULL::timestamptz AS due FROM reconciliation_cases WHERE status = 'open'",
    ),
    WorkKind(
        "dead_webhooks",
        ("dead_letters:read", "webhooks:replay"),
        "/api/dead-letter-webhooks?outcome=dead",
        """
        SELECT d.failed_at AS since, NULL::timestamptz AS due
        FROM dead_letter_webhooks d JOIN processed_webhook_events w ON w.id = d.webhook_id WHERE w.outcome = 'dead'
        """,
    ),
)
