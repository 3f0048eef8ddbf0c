"""The kinds of work that `GET /api/work` counts (contract section 13.6), for all services and the document."""

from typing import Final, Literal

WorkKindName = Literal[
    "alerts",
    "bank_detail_releases_to_approve",
    "chargebacks_to_answer",
    "commission_changes_to_approve",
    "dead_letters",
    "dead_webhooks",
    "dispute_resolutions_to_approve",
    "disputes_to_resolve",
    "factor_resets_to_approve",
    "flash_sales_to_approve",
    "goodwill_refunds_to_approve",
    "orders_to_dispatch",
    "orders_to_pack",
    "payout_exceptions",
    "payout_runs_to_approve",
    "payouts_to_dispatch",
    "pin_reissues_to_approve",
    "quarantined_charges_to_approve",
    "quarantined_charges_to_prepare",
    "reconciliation_cases",
    "reconciliations_to_approve",
    "refunds_to_approve",
    "refunds_to_prepare",
    "reports_to_decide",
    "return_requests_to_decide",
    "staff_grants_to_approve",
    "staff_grants_to_prepare",
    "tickets_to_answer",
    "vendor_applications_to_decide",
    "withdrawals_to_approve",
    "withdrawals_to_prepare",
]

StaffActionSubject = Literal["api_key", "campus", "hub", "person", "vendor", "vendor_application"]
"""What identity's audit trail of staff names."""
OwnActionSubject = Literal[
    StaffActionSubject,
    "alert",
    "chargeback",
    "dead_letter",
    "delivery_log",
    "flash_sale",
    "operation_stop",
    "order",
    "payout",
    "payout_batch",
    "payout_exception",
    "product",
    "quarantined_charge",
    "reconciliation",
    "reconciliation_case",
    "refund",
    "review",
    "withdrawal",
]
"""What the own actions of all services name."""
OWN_ACTIONS_MAX: Final = 100
"""Actions of one response of `GET /api/staff-acts/current`, of each service and of all together."""
