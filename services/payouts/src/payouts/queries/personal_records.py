"""The sections of a user's personal records: their own vendor's data. A user without a vendor has none."""

from typing import Final

from common.standard_endpoints.personal_records import Section

SECTIONS: Final = (
    Section("vendor", "SELECT id::text AS place, id, legal_name, suspended FROM vendors WHERE id = $2"),
    Section(
        "bankDetails",
        "SELECT id::text AS place, id, last4 AS account_last4, bank_code, account_name, verified, reason, "
        "change, changed_at "
        "FROM bank_detail_versions WHERE vendor_id = $2",
    ),
    Section(
        "payouts",
        "SELECT id::text AS place, id, amount AS amount_minor, currency, status, retry_count, transfer_failure, "
        "created_at, processed_at "
        "FROM payout_requests WHERE vendor_id = $2",
    ),
    Section(
        "statement",
        "SELECT id::text AS place, id, kind, order_id, payout_id, gross_minor, commission_minor, "
        "delivery_fee_minor, net_minor, "
        "balance_minor, at FROM wallet_lines WHERE vendor_id = $2",
    ),
    Section(
        "documents",
        (
            "SELECT subject_id::text AS place, subject_id AS id, kind, number, issued_at FROM issued_documents WHERE "
            "vendor_id = $2"
        ),
    ),
    Section(
        "schedule",
        (
            "SELECT vendor_id::text AS place, frequency, weekday, minimum_minor, updated_at FROM payout_schedules "
            "WHERE vendor_id = $2"
        ),
    ),
)
