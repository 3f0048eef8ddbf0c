"""Every constraint, unique index, trigger and row policy of payouts rejects what it exists for.

A new guard needs its line here: the test names it.
"""

from dataclasses import replace
from typing import Final

from testkit.fixtures import DatabaseFactory
from testkit.guarded_tables import LEDGER, NOW, OPERATION_STOPS, OTHERS, OURS, GuardedTable, append_only
from testkit.guards import Guards

OPEN_NUMBER: Final = {
    "account_number": "0123456789",
    "last4": "6789",
    "account_sealed": None,
    "account_fingerprint": None,
}
TABLES: Final = {
    "bank_detail_quarantines": GuardedTable(
        references={
            "bank_detail_quarantines_payout": {"payout_id": OTHERS},
            "bank_detail_quarantines_version": {"version_id": OTHERS},
        },
        triggers=append_only("bank_detail_quarantines"),
        policies={
            "SELECT bank_detail_quarantines_select": ("vendor bank_details:own", "bank_details:read", "payouts:read")
        },
    ),
    "bank_detail_releases": GuardedTable(
        row={"quarantine_ids": [OURS], "status": "prepared", "hash": "0" * 64},
        checks={
            "bank_detail_releases_decided_by_another": {"status": "approved", "decided_by": OURS, "decided_at": NOW},
            "bank_detail_releases_decided_says_who": {"status": "approved"},
            "bank_detail_releases_hash_shape": {"hash": "x"},
            "bank_detail_releases_names_quarantines": {"quarantine_ids": []},
            "bank_detail_releases_rejected_says_why": {"rejection": "x"},
            "bank_detail_releases_status_known": {"status": "x", "decided_by": OTHERS, "decided_at": NOW},
        },
        unique={
            "bank_detail_releases_pkey": {"account_fingerprint": "other"},
            "bank_detail_releases_one_live": {"id": OTHERS},
        },
        policies={"SELECT bank_detail_releases_select": ("payouts:read",)},
    ),
    "bank_detail_versions": GuardedTable(
        row={"account_sealed": "x", "account_fingerprint": "x"},
        checks={
            "bank_detail_versions_change_known": {"change": "x"},
            "bank_detail_versions_last4": {**OPEN_NUMBER, "last4": "0000"},
            "bank_detail_versions_number_kept_once": {"account_number": "0123456789", "last4": "6789"},
            "bank_detail_versions_sealed_has_fingerprint": {"account_fingerprint": None},
            "bank_detail_versions_ten_digits": {**OPEN_NUMBER, "account_number": "x6789"},
        },
        policies={
            "INSERT bank_detail_versions_insert": ("vendor bank_details:own",),
            "SELECT bank_detail_versions_of_resets": ("payouts:reset",),
            "SELECT bank_detail_versions_select": (
                "vendor bank_details:own",
                "vendor wallet:own",
                "bank_details:read",
                "payouts:read",
            ),
        },
    ),
    "chargebacks": GuardedTable(
        row={"status": "opened"},
        checks={
            "chargebacks_hold_nothing_when_decided": {"status": "won", "held_minor": 1},
            "chargebacks_never_negative": {"vendor_minor": -1},
            "chargebacks_status_known": {"status": "x"},
            "chargebacks_uncovered_only_while_open": {"uncovered_minor": -1},
        },
    ),
    "document_counters": GuardedTable(),
    "issued_documents": GuardedTable(
        unique={"issued_documents_pkey": {"vendor_id": OTHERS}, "issued_documents_number_once": {"subject_id": OTHERS}},
        policies={
            "SELECT issued_documents_of_the_vendor": ("vendor wallet:own",),
            "SELECT issued_documents_for_finance": ("payouts:read",),
        },
    ),
    "payout_holds": GuardedTable(
        row={"payout_id": OURS, "status": "held"},
        checks={"payout_holds_status_known": {"status": "x"}, "payout_holds_release_says_who": {"status": "released"}},
        unique={"payout_holds_pkey": {"payout_id": OTHERS}, "payout_holds_one_live": {"id": OTHERS}},
        references={"payout_holds_payout": {"payout_id": OTHERS}},
        policies={"SELECT payout_holds_select": ("vendor wallet:own", "payouts:read")},
    ),
    "dispatch_approvals": GuardedTable(
        row={"batch_id": OURS, "status": "prepared", "hash": "0" * 64},
        checks={
            "dispatch_approvals_decided_by_another": {"status": "approved", "decided_by": OURS, "decided_at": NOW},
            "dispatch_approvals_decided_says_who": {"status": "approved"},
            "dispatch_approvals_hash_shape": {"hash": "x"},
            "dispatch_approvals_rejected_says_why": {"rejection": "x"},
            "dispatch_approvals_status_known": {"status": "x", "decided_by": OTHERS, "decided_at": NOW},
        },
        references={"dispatch_approvals_batch": {"batch_id": OTHERS}},
        policies={"SELECT dispatch_approvals_select": ("payouts:read",)},
    ),
    "dispatch_batches": GuardedTable(
        unique={
            "dispatch_batches_pkey": {"dispatched_by": OTHERS, "idempotency_key": OTHERS},
            "dispatch_batches_key_once": {"id": OTHERS},
        },
        policies={"SELECT dispatch_batches_select": ("user payouts:dispatch",)},
    ),
    "dispatch_lines": GuardedTable(
        row={"outcome": "planned"},
        checks={
            "dispatch_lines_outcome_known": {"outcome": "x"},
            "dispatch_lines_skipped_says_why": {"outcome": "skipped"},
        },
        references={"dispatch_lines_batch": {"batch_id": OTHERS}},
    ),
    "found_transfers": GuardedTable(
        row={"outcome": "open"},
        checks={
            "found_transfers_explained_says_why": {"outcome": "explained"},
            "found_transfers_outcome_known": {"outcome": "x"},
            "found_transfers_taken_names_payout": {"outcome": "taken"},
        },
        references={"found_transfers_payout": {"outcome": "taken", "payout_id": OTHERS}},
    ),
    "gateway_banks": GuardedTable(policies={"SELECT gateway_banks_select": ("public",)}),
    "hash_keys": GuardedTable(),
    "operation_stops": OPERATION_STOPS,
    **LEDGER,
    "ledger_balances": replace(
        LEDGER["ledger_balances"],
        row={"side": "debit", "account": f"wallet:{OURS}"},
        policies={
            "SELECT ledger_balances_select": ("vendor wallet:own",),
            "SELECT ledger_balances_select_staff": ("payouts:read",),
        },
        rejected_rows={"ledger_balances_select": ({"account": "commission"}, {"account": f"wallet:{OTHERS}"})},
    ),
    "order_shares": GuardedTable(
        checks={"order_shares_never_negative": {"remaining_vendor_minor": -1}},
        policies={
            "SELECT order_shares_select": ("vendor wallet:own",),
            "SELECT order_shares_select_staff": ("payouts:read",),
        },
    ),
    "payout_acts": GuardedTable(
        row={"position": 1, "act": "reset"},
        checks={
            "payout_acts_act_known": {"reconciliation_id": OURS, "act": "x"},
            "payout_acts_of_reconciliation": {"reconciliation_id": OURS},
        },
        references={
            "payout_acts_payout": {"payout_id": OTHERS},
            "payout_acts_reconciliation": {"act": "approved", "reconciliation_id": OTHERS},
        },
        triggers=append_only("payout_acts", "payout_id"),
    ),
    "payout_exception_acts": GuardedTable(
        row={"position": 1, "kind": "classified", "acted_by": OURS},
        checks={
            "payout_exception_acts_classified_by_somebody": {"acted_by": None},
            "payout_exception_acts_kind_known": {"kind": "x"},
        },
        references={"payout_exception_acts_exception": {"exception_id": OTHERS}},
        triggers=append_only("payout_exception_acts"),
        policies={
            "INSERT payout_exception_acts_insert": ("user exceptions:classify",),
            "SELECT payout_exception_acts_select": ("exceptions:read",),
        },
        rejected_rows={"payout_exception_acts_insert": ({"kind": "noted"},)},
    ),
    "payout_exceptions": GuardedTable(
        row={"payout_id": OURS, "vendor_id": OURS, "severity": "SEV-1", "status": "open"},
        checks={
            "payout_exceptions_closed_says_why": {"status": "closed"},
            "payout_exceptions_of_payout_or_batch": {"payout_id": None, "vendor_id": None},
            "payout_exceptions_severity_known": {"severity": "x"},
            "payout_exceptions_status_known": {"status": "x"},
        },
        unique={
            "payout_exceptions_pkey": {"payout_id": OTHERS},
            "payout_exceptions_one_live": {"id": OTHERS},
            "payout_exceptions_one_live_of_batch": ({"payout_id": None, "batch_id": OURS}, {"id": OTHERS}),
            "payout_exceptions_one_live_of_vendor": ({"payout_id": None, "vendor_id": OURS}, {"id": OTHERS}),
        },
        references={
            "payout_exceptions_batch": {"payout_id": None, "batch_id": OTHERS},
            "payout_exceptions_payout": {"payout_id": OTHERS},
            "payout_exceptions_transfer": {"transfer_id": OTHERS},
        },
        policies={
            "SELECT payout_exceptions_select": ("vendor wallet:own", "payouts:read", "exceptions:read"),
            "UPDATE payout_exceptions_update": ("exceptions:classify",),
        },
    ),
    "payout_requests": GuardedTable(
        row={"status": "pending", "number": "PO-0000-0001"},
        checks={
            "payout_requests_amount_positive": {"amount": 0},
            "payout_requests_number_form": {"number": "PO-1234-567"},
            "payout_requests_awaited_says_why": {"restitution_awaited_since": NOW},
            "payout_requests_retry_count_at_most_3": {"retry_count": -1},
            "payout_requests_status_known": {"status": "x"},
        },
        unique={
            "payout_requests_pkey": {"requested_by": OTHERS, "number": "PO-0000-0002"},
            "payout_requests_number_once": {"id": OTHERS},
            "payout_requests_key_once": ({"idempotency_key": OURS}, {"id": OTHERS, "number": "PO-0000-0002"}),
        },
        references={"payout_requests_bank_details": {"bank_details_version_id": OTHERS}},
        policies={
            "INSERT payout_requests_insert": ("vendor wallet:own",),
            "SELECT payout_requests_of_resets": ("payouts:reset",),
            "SELECT payout_requests_select": ("vendor wallet:own", "payouts:read"),
        },
    ),
    "payout_schedules": GuardedTable(
        row={"frequency": "none"},
        checks={
            "payout_schedules_frequency_known": {"frequency": "x", "due_at": NOW},
            "payout_schedules_minimum_positive": {"minimum_minor": 0},
            "payout_schedules_none_is_never_due": {"frequency": "daily"},
            "payout_schedules_weekday_known": {"frequency": "weekly", "weekday": "x", "due_at": NOW},
            "payout_schedules_weekly_has_weekday": {"weekday": "monday"},
        },
        policies={
            "INSERT payout_schedules_insert": ("vendor wallet:own",),
            "SELECT payout_schedules_select": ("vendor wallet:own", "payouts:read"),
            "UPDATE payout_schedules_update": ("vendor wallet:own",),
        },
    ),
    "payout_transfers": GuardedTable(
        row={"reference": "po-" + "0" * 32, "status": "reserved"},
        checks={
            "payout_transfers_reference_shape": {"reference": "x"},
            "payout_transfers_status_known": {"status": "x"},
        },
        unique={
            "payout_transfers_pkey": {"attempt": 0, "payout_id": OTHERS},
            "payout_transfers_reference_once": {"attempt": 0, "id": OTHERS, "payout_id": OTHERS},
            "payout_transfers_attempt_once": {"id": OTHERS, "reference": "po-" + "1" * 32},
        },
        references={
            "payout_transfers_bank_details": {"bank_details_version_id": OTHERS},
            "payout_transfers_batch": {"batch_id": OTHERS},
            "payout_transfers_payout": {"payout_id": OTHERS},
        },
        policies={
            "SELECT payout_transfers_of_resets": ("payouts:reset",),
            "SELECT payout_transfers_select": ("vendor wallet:own", "payouts:read"),
            "SELECT payout_transfers_select_observed": ("exceptions:read",),
        },
    ),
    "reconciliations": GuardedTable(
        row={"kind": "restitution", "status": "prepared", "hash": "0" * 64},
        checks={
            "reconciliations_decided_by_another": {"status": "approved", "decided_by": OURS, "decided_at": NOW},
            "reconciliations_decided_says_who": {"status": "approved"},
            "reconciliations_hash_shape": {"hash": "x"},
            "reconciliations_kind_known": {"kind": "x"},
            "reconciliations_recovery_names_transfer": {"transfer_id": OURS},
            "reconciliations_rejected_says_why": {"rejection": "x"},
            "reconciliations_status_known": {"status": "x", "decided_by": OTHERS, "decided_at": NOW},
        },
        unique={
            "reconciliations_pkey": {"kind": "reversal", "payout_id": OTHERS},
            "reconciliations_one_live": {"id": OTHERS, "kind": "reversal"},
            "reconciliations_returned_once": (
                {"status": "approved", "decided_by": OTHERS, "decided_at": NOW},
                {"id": OTHERS, "kind": "reversal"},
            ),
            "reconciliations_posting_once": (
                {
                    "kind": "recovery",
                    "status": "approved",
                    "decided_by": OTHERS,
                    "decided_at": NOW,
                    "transfer_id": OURS,
                    "postings": [{"postingKey": "recovery:x"}],
                },
                {"id": OTHERS},
            ),
        },
        references={
            "reconciliations_payout": {"payout_id": OTHERS},
            "reconciliations_transfer": {"kind": "recovery", "transfer_id": OTHERS},
        },
        policies={"SELECT reconciliations_select": ("payouts:read",)},
    ),
    "release_checkpoints": GuardedTable(
        checks={
            "release_checkpoints_received_by_last_line": {"last_received": 2, "last_line": 1},
            "release_checkpoints_name_a_statement": {"sequence": 0},
        }
    ),
    "release_statements": GuardedTable(checks={"release_statements_counts_from_one": {"sequence": 0}}),
    "release_statements_begin": GuardedTable(checks={"release_statements_begin_only_one": {"only_one": False}}),
    "scheduled_payouts": GuardedTable(
        row={"outcome": "skipped", "reason": "x"},
        checks={
            "scheduled_payouts_outcome_known": {"outcome": "x", "reason": None},
            "scheduled_payouts_requested_names_payout": {"payout_id": OURS},
            "scheduled_payouts_skipped_says_why": {"reason": None},
        },
        references={"scheduled_payouts_payout": {"outcome": "requested", "reason": None, "payout_id": OTHERS}},
        policies={"SELECT scheduled_payouts_select": ("vendor wallet:own", "payouts:read")},
    ),
    "standing_alerts": GuardedTable(policies={"SELECT standing_alerts_select": ("exceptions:read",)}),
    "transfer_comparison": GuardedTable(checks={"transfer_comparison_only_one": {"only_one": False}}),
    "transfer_holds": GuardedTable(
        row={"status": "held", "amount": 1},
        checks={
            "transfer_holds_amount_positive": {"amount": 0},
            "transfer_holds_decided_says_when": {"decided_at": NOW},
            "transfer_holds_status_known": {"status": "x", "decided_at": NOW},
        },
        references={"transfer_holds_payout": {"payout_id": OTHERS}, "transfer_holds_transfer": {"transfer_id": OTHERS}},
        policies={"SELECT transfer_holds_select": ("vendor wallet:own", "payouts:read")},
    ),
    "transfer_observations": GuardedTable(
        row={"position": 1, "heard_from": "webhook", "verdict": "advanced"},
        checks={
            "transfer_observations_heard_from_known": {"heard_from": "x"},
            "transfer_observations_verdict_known": {"verdict": "x"},
        },
        references={"transfer_observations_transfer": {"transfer_id": OTHERS}},
        triggers=append_only("transfer_observations"),
    ),
    "vendor_bank_details": GuardedTable(
        row={"account_sealed": "x", "account_fingerprint": "x"},
        checks={
            "vendor_bank_details_last4": {**OPEN_NUMBER, "last4": "0000"},
            "vendor_bank_details_number_kept_once": {"account_number": "0123456789", "last4": "6789"},
            "vendor_bank_details_quarantined_unverified": {"quarantine_reason": "x", "verified": True},
            "vendor_bank_details_sealed_has_fingerprint": {"account_fingerprint": None},
            "vendor_bank_details_ten_digits": {**OPEN_NUMBER, "account_number": "x6789"},
        },
        references={"vendor_bank_details_version": {"version_id": OTHERS}},
        policies={
            "INSERT vendor_bank_details_insert": ("vendor bank_details:own",),
            "SELECT vendor_bank_details_select": ("vendor bank_details:own", "vendor wallet:own", "bank_details:read"),
            "UPDATE vendor_bank_details_update": ("vendor bank_details:own",),
        },
    ),
    "vendors": GuardedTable(
        policies={
            "SELECT vendors_select": ("vendor",),
            "SELECT vendors_select_observed": ("exceptions:read",),
            "SELECT vendors_select_staff": ("payouts:read",),
        }
    ),
    "wallet_lines": GuardedTable(
        row={"position": 1, "kind": "release"},
        checks={
            "wallet_lines_balance_never_negative": {"balance_minor": -1},
            "wallet_lines_kind_known": {"kind": "x"},
            "wallet_lines_parts_add_up": {"gross_minor": 2, "commission_minor": 0, "delivery_fee_minor": 0},
            "wallet_lines_return_names_payout": {"kind": "restitution"},
            "wallet_lines_waiver_only_debits": {"kind": "waiver"},
        },
        unique={
            "wallet_lines_pkey": {"kind": "debt_repaid", "source_key": "0123456789"},
            "wallet_lines_source_once": {"position": 0},
            "wallet_lines_returned_once": (
                {"kind": "restitution", "payout_id": OURS},
                {"kind": "reversal", "position": 0, "source_key": "0123456789"},
            ),
        },
        policies={
            "INSERT wallet_lines_insert": ("vendor wallet:own",),
            "SELECT wallet_lines_select": ("vendor wallet:own",),
            "SELECT wallet_lines_select_staff": ("payouts:read",),
        },
    ),
    "wallets": GuardedTable(
        policies={
            "INSERT wallets_insert": ("vendor wallet:own",),
            "SELECT wallets_select": ("vendor wallet:own",),
            "UPDATE wallets_update": ("vendor wallet:own",),
        }
    ),
}
GUARDS: Final = Guards(
    "payouts",
    TABLES,
    {
        "payout_transfers.payout_transfers_copy_renamed_count": "test_renamed_columns",
        "transfer_observations.transfer_observations_copy_renamed_source": "test_renamed_columns",
    },
)


async def test_every_guard_is_listed_and_rejects_what_it_exists_for(module_database: DatabaseFactory) -> None:
    await GUARDS.hold((await module_database("payouts")).admin)
