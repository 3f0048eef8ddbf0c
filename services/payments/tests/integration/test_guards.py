"""Every constraint, unique index, trigger and row policy of payments rejects what it exists for.

A new guard needs its line here: the test names it.
"""

from dataclasses import replace
from typing import Final

from testkit.fixtures import DatabaseFactory
from testkit.guarded_tables import (
    LATER,
    LEDGER,
    MESSAGING,
    NOW,
    OTHERS,
    OURS,
    GuardedTable,
    InsertAfter,
    decided_by_two,
)
from testkit.guards import Guards

TABLES: Final = {
    "audit_findings": GuardedTable(
        row={"kind": "broken"},
        checks={"audit_findings_kind_known": {"kind": "x"}},
        references={"audit_findings_audit": {"audit_id": OTHERS}},
        policies={"SELECT audit_findings_visible": ("audits:read",)},
    ),
    "audits": GuardedTable(
        row={"verdict": "clean"},
        checks={"audits_end_after_their_start": {"started_at": LATER}, "audits_verdict_known": {"verdict": "x"}},
        policies={"SELECT audits_visible": ("audits:read",)},
    ),
    "balance_holds": GuardedTable(
        row={"status": "held"},
        checks={
            "balance_holds_rewards_within_amount": {"amount_minor": 0},
            "balance_holds_status_known": {"status": "x"},
        },
        references={"balance_holds_balance": {"user_id": OTHERS}, "balance_holds_intent": {"intent_id": OTHERS}},
    ),
    "balance_lines": GuardedTable(
        row={"kind": "reward"},
        checks={
            "balance_lines_balance_never_negative": {"balance_minor": -1},
            "balance_lines_kind_known": {"kind": "x"},
            "balance_lines_sign_of_kind": {"kind": "spent"},
        },
        unique={"balance_lines_pkey": {"sequence": 2}, "balance_lines_sequence_once": {"id": OTHERS}},
        references={"balance_lines_balance": {"user_id": OTHERS}},
        policies={"SELECT balance_lines_visible": ("user", "payments:read", "ledger:read")},
    ),
    "buyer_balances": GuardedTable(
        checks={"buyer_balances_never_negative": {"held_minor": -1}},
        policies={"SELECT buyer_balances_visible": ("user", "payments:read", "ledger:read")},
    ),
    "buyers": GuardedTable(policies={"SELECT buyers_own": ("user",)}),
    "chargeback_refunds": GuardedTable(
        checks={"chargeback_refunds_amount_above_zero": {"amount_minor": 0}},
        references={
            "chargeback_refunds_chargeback": {"chargeback_id": OTHERS},
            "chargeback_refunds_refund": {"refund_id": OTHERS},
        },
    ),
    "chargeback_responses": GuardedTable(
        row={"kind": "evidence", "due_at": NOW},
        checks={
            "chargeback_responses_amount_not_negative": {"amount_minor": -1},
            "chargeback_responses_due_while_submitting": {"due_at": None},
            "chargeback_responses_finished_once": {"finished_at": NOW},
            "chargeback_responses_kind_known": {"kind": "x"},
            "chargeback_responses_personal_data_leaves": {
                "status": "submitted",
                "due_at": None,
                "finished_at": NOW,
                "evidence": {},
            },
            "chargeback_responses_resolution_is_whole": {"kind": "resolution"},
            "chargeback_responses_resolution_known": {"resolution": "x"},
            "chargeback_responses_status_known": {"status": "x", "due_at": None, "finished_at": NOW},
        },
        unique={
            "chargeback_responses_pkey": {"chargeback_id": OTHERS},
            "chargeback_responses_one_submitting": {"id": OTHERS},
            "chargeback_responses_one_resolution": (
                {
                    "kind": "resolution",
                    "resolution": "accept",
                    "message": "x",
                    "amount_minor": 1,
                    "status": "submitted",
                    "due_at": None,
                    "finished_at": NOW,
                },
                {"id": OTHERS},
            ),
        },
        references={"chargeback_responses_chargeback": {"chargeback_id": OTHERS}},
        policies={"SELECT chargeback_responses_visible": ("ledger:read", "chargebacks:respond")},
    ),
    "chargebacks": GuardedTable(
        row={"status": "opened"},
        checks={
            "chargebacks_amount_not_negative": {"amount_minor": -1},
            "chargebacks_decided_when_not_open": {"status": "won"},
            "chargebacks_never_negative": {"locked_vendor_minor": -1},
            "chargebacks_status_known": {"status": "x", "decided_at": NOW},
        },
        unique={
            "chargebacks_pkey": {"identity": "0123456789"},
            "chargebacks_identity_once": {"id": OTHERS},
            "chargebacks_of_part": ({"part_of": OURS, "order_id": OURS}, {"id": OTHERS, "identity": "0123456789"}),
        },
        references={"chargebacks_charge": {"charge_id": OTHERS}, "chargebacks_part_of": {"part_of": OTHERS}},
        policies={"SELECT chargebacks_visible": ("ledger:read", "escrow:release")},
    ),
    "charges": GuardedTable(
        row={"verdict": "covered"},
        checks={
            "charges_amount_above_zero": {"amount_minor": 0},
            "charges_surcharge_within_bound": {"surcharge_minor": 1},
            "charges_verdict_known": {"verdict": "x"},
        },
        unique={
            "charges_pkey": {"identity": "0123456789"},
            "charges_identity_once": {"id": OTHERS},
            "charges_order_covered_once": ({"order_id": OURS}, {"id": OTHERS, "identity": "0123456789"}),
        },
    ),
    "dead_letter_actions": replace(
        MESSAGING["dead_letter_actions"],
        policies={
            "INSERT dead_letter_actions_own": ("user webhooks:replay",),
            "SELECT dead_letter_actions_visible": ("dead_letters:read", "webhooks:replay"),
        },
    ),
    "dead_letter_closures": replace(
        MESSAGING["dead_letter_closures"],
        policies={
            "INSERT dead_letter_closures_own": ("user webhooks:replay",),
            "SELECT dead_letter_closures_visible": ("dead_letters:read", "webhooks:replay"),
        },
    ),
    "dead_letter_webhooks": GuardedTable(
        row={"replayed_at": NOW},
        checks={
            "dead_letter_webhooks_provider_known": {"provider": "x"},
            "dead_letter_webhooks_resolved_once": {"closed_at": NOW},
        },
        references={"dead_letter_webhooks_webhook": {"webhook_id": "missing"}},
        policies={
            "UPDATE dead_letter_webhooks_replayed": ("webhooks:replay",),
            "SELECT dead_letter_webhooks_visible": ("dead_letters:read", "webhooks:replay"),
        },
    ),
    "escrows": GuardedTable(
        row={"held_minor": 6, "locked_vendor_minor": 0, "charge_id": OURS, "balance_minor": 0},
        checks={
            "escrows_account_for_all": {"held_minor": 1},
            "escrows_charged_back_never_negative": {"locked_vendor_minor": 1, "charged_back_minor": -1},
            "escrows_never_negative": {"locked_vendor_minor": -1, "locked_commission_minor": 2},
        },
        triggers={"escrows_within_charge": (InsertAfter("DELETE FROM releases; DELETE FROM escrows"),)},
        references={"escrows_charge": {"charge_id": OTHERS}, "escrows_order": {"order_id": OTHERS}},
        policies={"UPDATE escrows_released": ("escrow:release",), "SELECT escrows_visible": ("escrow:release",)},
    ),
    "failed_refund_attempts": GuardedTable(references={"failed_refund_attempts_refund": {"refund_id": OTHERS}}),
    **LEDGER,
    "ledger_accounts": replace(
        LEDGER["ledger_accounts"], policies={"SELECT ledger_accounts_visible": ("ledger:read", "ledger:export")}
    ),
    "ledger_balances": replace(
        LEDGER["ledger_balances"],
        row={"side": "debit", "account": f"vendor_payable:{OURS}"},
        policies={
            "SELECT ledger_balances_of_vendors_signed": ("escrow:release",),
            "SELECT ledger_balances_visible": ("ledger:read", "ledger:export"),
        },
        rejected_rows={"ledger_balances_of_vendors_signed": ({"account": "commission"},)},
    ),
    "ledger_entries": replace(
        LEDGER["ledger_entries"],
        row={"position": 1, "account": f"buyer_reward:{OURS}"},
        policies={"SELECT ledger_entries_visible": ("user", "ledger:read", "ledger:export")},
    ),
    "ledger_links": replace(LEDGER["ledger_links"], policies={"SELECT ledger_links_visible": ("ledger:read",)}),
    "ledger_transactions": replace(
        LEDGER["ledger_transactions"], policies={"SELECT ledger_transactions_visible": ("ledger:read", "ledger:export")}
    ),
    "ledger_unsealed": replace(
        LEDGER["ledger_unsealed"], policies={"SELECT ledger_unsealed_visible": ("ledger:read",)}
    ),
    "ledger_totals": GuardedTable(
        checks={"ledger_totals_not_below_zero": {"debit_minor": -1}},
        policies={"SELECT ledger_totals_visible": ("ledger:read",)},
    ),
    "intent_orders": GuardedTable(
        checks={"intent_orders_amount_above_zero": {"amount_minor": 0}},
        references={"intent_orders_intent": {"intent_id": OTHERS}, "intent_orders_order": {"order_id": OTHERS}},
        policies={
            "INSERT intent_orders_written": ("user",),
            "SELECT intent_orders_visible": ("user", "ledger:read", "payments:read"),
        },
    ),
    "payable_orders": GuardedTable(
        row={"total_minor": 2, "status": "Processing"},
        checks={
            "payable_orders_parts_within_total": {"total_minor": 1},
            "payable_orders_status_known": {"status": "x"},
            "payable_orders_total_above_zero": {"total_minor": 0, "commission_minor": 0, "delivery_fee_minor": 0},
        },
        policies={"SELECT payable_orders_visible": ("user", "escrow:release")},
    ),
    "payment_intent_keys": GuardedTable(
        references={"payment_intent_keys_intent": {"intent_id": OTHERS}},
        policies={"INSERT payment_intent_keys_bound": ("user",), "SELECT payment_intent_keys_own": ("user",)},
    ),
    "payment_intents": GuardedTable(
        row={"status": "opening"},
        checks={
            "payment_intents_account_whole": {"transfer_account_number": "9000000001"},
            "payment_intents_failure_has_words": {"status": "failed"},
            "payment_intents_open_has_address": {"status": "pending"},
            "payment_intents_received_above_zero": {"received_minor": 0},
            "payment_intents_status_known": {"status": "x"},
            "payment_intents_transfer_above_zero": {
                "transfer_bank_name": "Titan",
                "transfer_account_number": "9000000001",
                "transfer_amount_minor": 0,
                "transfer_expires_at": "2026-01-01T00:15:00Z",
            },
        },
        unique={
            "payment_intents_pkey": {"order_id": OTHERS, "reference": "0123456789"},
            "payment_intents_reference_once": {"id": OTHERS, "order_id": OTHERS},
            "payment_intents_one_live": {"id": OTHERS, "reference": "0123456789"},
        },
        references={"payment_intents_order": {"order_id": OTHERS}},
        policies={
            "UPDATE payment_intents_opened": ("user",),
            "INSERT payment_intents_started": ("user",),
            "SELECT payment_intents_visible": ("user", "ledger:read", "payments:read"),
        },
    ),
    "purchase_orders": GuardedTable(
        checks={"purchase_orders_position_from_zero": {"position": -1}},
        unique={"purchase_orders_pkey": {"order_id": OTHERS}, "purchase_orders_order_once": {"position": 2}},
        references={"purchase_orders_purchase": {"purchase_id": OTHERS}},
        policies={"SELECT purchase_orders_visible": ("user", "ledger:read", "payments:read")},
    ),
    "purchases": GuardedTable(policies={"SELECT purchases_visible": ("user", "ledger:read", "payments:read")}),
    "payment_references": GuardedTable(
        references={"payment_references_intent": {"intent_id": OTHERS}},
        policies={"SELECT payment_references_own": ("user",), "INSERT payment_references_written": ("user",)},
    ),
    "processed_webhook_events": GuardedTable(
        row={"outcome": "queued"},
        checks={"processed_webhook_events_outcome_known": {"outcome": "x"}},
        policies={
            "UPDATE processed_webhook_events_replayed": ("webhooks:replay",),
            "SELECT processed_webhook_events_visible": ("dead_letters:read", "webhooks:replay"),
        },
    ),
    "quarantined_accounts": GuardedTable(),
    "goodwill_refunds": GuardedTable(
        row={"status": "prepared"},
        checks={
            **decided_by_two("goodwill_refunds"),
            "goodwill_refunds_amount_above_zero": {"amount_minor": 0},
            "goodwill_refunds_decided_once": {"status": "approved"},
        },
        unique={"goodwill_refunds_pkey": {"order_id": OTHERS}, "goodwill_refunds_one_prepared": {"id": OTHERS}},
        policies={"SELECT goodwill_refunds_visible": ("ledger:read", "goodwill:prepare", "goodwill:approve")},
    ),
    "withdrawal_decisions": GuardedTable(
        row={"outcome": "pay", "status": "prepared"},
        checks={
            **decided_by_two("withdrawal_decisions"),
            "withdrawal_decisions_decided_once": {"status": "approved"},
            "withdrawal_decisions_outcome_known": {"outcome": "x"},
        },
        unique={
            "withdrawal_decisions_pkey": {"withdrawal_id": OTHERS},
            "withdrawal_decisions_one_stands": {"id": OTHERS},
        },
        references={"withdrawal_decisions_withdrawal": {"withdrawal_id": OTHERS}},
        policies={"SELECT withdrawal_decisions_visible": ("ledger:read", "refunds:prepare", "refunds:approve")},
    ),
    "withdrawals": GuardedTable(
        row={"status": "pending", "rewards_minor": 0, "loss_minor": 0},
        checks={"withdrawals_parts_within_amount": {"loss_minor": -1}, "withdrawals_status_known": {"status": "x"}},
        references={"withdrawals_balance": {"user_id": OTHERS}},
        policies={"SELECT withdrawals_visible": ("user", "ledger:read", "refunds:prepare", "refunds:approve")},
    ),
    "quarantine_decisions": GuardedTable(
        row={"outcome": "accept", "status": "prepared"},
        checks={
            **decided_by_two("quarantine_decisions"),
            "quarantine_decisions_decided_by_somebody": {"status": "approved"},
            "quarantine_decisions_outcome_known": {"outcome": "x"},
        },
        unique={
            "quarantine_decisions_pkey": {"quarantined_charge_id": OTHERS},
            "quarantine_decisions_one_stands": {"id": OTHERS},
        },
        references={"quarantine_decisions_charge": {"quarantined_charge_id": OTHERS}},
        policies={
            "SELECT quarantine_decisions_visible": (
                "ledger:read",
                "quarantine:prepare",
                "quarantine:approve",
                "quarantine:read",
            )
        },
    ),
    "quarantined_charges": GuardedTable(
        row={"status": "quarantined"},
        checks={"quarantined_charges_status_known": {"status": "x"}},
        unique={"quarantined_charges_pkey": {"charge_id": OTHERS}, "quarantined_charges_charge_once": {"id": OTHERS}},
        references={"quarantined_charges_charge": {"charge_id": OTHERS}},
        policies={
            "SELECT quarantined_charges_visible": (
                "ledger:read",
                "quarantine:prepare",
                "quarantine:approve",
                "quarantine:read",
            )
        },
    ),
    "reconciliation_cases": GuardedTable(
        row={"kind": "charge_not_in_book", "status": "open"},
        checks={
            "reconciliation_cases_closed_with_evidence": {"closed_by": OURS, "evidence": "x"},
            "reconciliation_cases_ends_once": {"status": "explained"},
            "reconciliation_cases_kind_known": {"kind": "x"},
            "reconciliation_cases_status_known": {"status": "x", "closed_at": NOW},
        },
        unique={
            "reconciliation_cases_pkey": {"kind": "charge_not_at_gateway", "subject": "0123456789"},
            "reconciliation_cases_one_open": {"id": OTHERS},
        },
        policies={
            "UPDATE reconciliation_cases_closed": ("exceptions:classify",),
            "SELECT reconciliation_cases_visible": ("ledger:read", "exceptions:read"),
        },
    ),
    "reconciliation_runs": GuardedTable(checks={"reconciliation_runs_is_one": {"the_only": False}}),
    "refund_decisions": GuardedTable(
        row={"action": "retry", "status": "prepared"},
        checks={
            **decided_by_two("refund_decisions"),
            "refund_decisions_action_known": {"action": "x"},
            "refund_decisions_decided_by_somebody": {"status": "approved"},
            "refund_decisions_destination_when_other": {"action": "other_destination"},
        },
        unique={"refund_decisions_pkey": {"refund_id": OTHERS}, "refund_decisions_one_waits": {"id": OTHERS}},
        references={"refund_decisions_refund": {"refund_id": OTHERS}},
        policies={"SELECT refund_decisions_visible": ("ledger:read", "refunds:prepare", "refunds:approve")},
    ),
    "refunds": GuardedTable(
        row={"buyer_id": OURS, "kind": "order", "status": "pending"},
        checks={
            "refunds_kind_known": {"kind": "x"},
            "refunds_parts_above_zero": {"amount_minor": 0, "balance_minor": 0},
            "refunds_status_known": {"status": "x"},
        },
        unique={"refunds_pkey": {"attempt_id": OTHERS}, "refunds_attempt_once": {"id": OTHERS}},
        references={"refunds_charge": {"charge_id": OTHERS}},
        policies={
            "SELECT refunds_visible": ("user", "ledger:read", "refunds:prepare", "refunds:approve", "refunds:read")
        },
    ),
    "releases": GuardedTable(
        row={"commission_minor": -1, "cause": "delivery"},
        checks={"releases_cause_known": {"cause": "x"}, "releases_parts_make_gross": {"gross_minor": 0}},
        references={"releases_order": {"order_id": OTHERS}},
        policies={"INSERT releases_made": ("escrow:release",), "SELECT releases_visible": ("escrow:release",)},
    ),
    "revised_webhooks": GuardedTable(
        checks={"revised_webhooks_kept_is_bounded": {"revisions": 0}},
        references={"revised_webhooks_webhook": {"webhook_id": "missing"}},
    ),
    "standing_alerts": GuardedTable(),
    "vendor_statements": GuardedTable(
        checks={"vendor_statements_counts_from_one": {"sequence": 0}},
        policies={
            "INSERT vendor_statements_insert": ("escrow:release",),
            "SELECT vendor_statements_select": ("escrow:release",),
            "UPDATE vendor_statements_update": ("escrow:release",),
        },
    ),
    "webhook_revisions": GuardedTable(references={"webhook_revisions_webhook": {"webhook_id": "missing"}}),
}
GUARDS: Final = Guards("payments", TABLES, {"refunds.refunds_copy_renamed_count": "test_refunds_store"})


async def test_every_guard_is_listed_and_rejects_what_it_exists_for(module_database: DatabaseFactory) -> None:
    await GUARDS.hold((await module_database("payments")).admin)
