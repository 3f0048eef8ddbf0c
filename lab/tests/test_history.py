"""A service's roles can neither change nor delete rows of the history tables (decision 31)."""

import asyncpg
import pytest

from operations.connecting import connected
from testkit.fixtures import DatabaseFactory

# The columns of each table that use cases change. Other columns are written once.
HISTORY: dict[str, dict[str, str]] = {
    "payments": {
        "goodwill_refunds": "decided_at decided_by reason rejection status",
        "dead_letter_actions": "",
        "dead_letter_closures": "",
        "ledger_transactions": "",
        "ledger_entries": "",
        "ledger_links": "",
        "ledger_accounts": "",
        "charges": "verdict order_id",
        "releases": "",
        "payment_references": "",
        "payment_intent_keys": "",
        "payment_intents": "access_code authorization_url callback_url channel failed_at failure_reason gateway "
        "opening_until paid_at queries query_at received_minor reference status transfer_account_name "
        "transfer_account_number transfer_amount_minor transfer_bank_name transfer_expires_at",
        "processed_webhook_events": "outcome",
        "dead_letter_webhooks": "closed_at replayed_at",
        "escrows": "balance_refunded_minor charged_back_minor dispute_sequence disputed_at "
        "locked_commission_minor locked_delivery_fee_minor "
        "locked_vendor_minor refunded_minor released_commission_minor released_delivery_fee_minor "
        "released_vendor_minor rewards_refunded_minor",
        "refunds": "amount_minor attempt_id balance_minor due_at failure gateway_refund_id needs_account_at "
        "poll_count questions reason recipient_code retry_recipient_code settled_at status submitted_at "
        "transfer_fee_minor",
        "failed_refund_attempts": "confirmed_at failure recipient_code transfer_fee_minor",
        "quarantined_charges": "order_id refund_id status",
        "quarantine_decisions": "decided_at decided_by reason rejection status",
        "refund_decisions": "account_last4 account_name bank_code decided_at decided_by "
        "name_at_bank reason recipient_code rejection status",
        "chargebacks": "amount_minor decided_at due_alerted_at due_at locked_commission_minor "
        "locked_delivery_fee_minor "
        "locked_vendor_minor responded_at "
        "loss_minor released_commission_minor released_delivery_fee_minor released_vendor_minor status",
        "chargeback_responses": (
            "attachment attempts due_at evidence failure finished_at gateway_evidence_id message status"
        ),
        "reconciliation_cases": "alerted_at closed_at closed_by currency detail "
        "evidence ours_minor seen_at status theirs_minor unexplained_minor",
    },
    "payouts": {
        "dead_letter_actions": "",
        "dead_letter_closures": "",
        "ledger_transactions": "",
        "ledger_entries": "",
        "ledger_links": "",
        "ledger_accounts": "",
        "wallet_lines": "",
        "transfer_observations": "",
        "payout_acts": "",
        "payout_exception_acts": "",
        "bank_detail_quarantines": "",
        "bank_detail_releases": "decided_at decided_by rejection status",
        "payout_transfers": "asks batch_id called_at due_at failure fee gateway poll_count recipient_code status "
        "submissions "
        "transfer_code updated_at",
        "payout_requests": "processed_at restitution_awaited_since restitution_reason retry_count status "
        "transfer_code transfer_failure transfer_reference updated_at",
        "payout_exceptions": "cause closed_at closed_because respond_by severity status",
        "dispatch_batches": "answer finished_at remaining",
        "dispatch_lines": "outcome reason",
        "operation_stops": "lift_reason lifted_at lifted_by",
        "payout_holds": "release_reason released_at released_by status",
        "dispatch_approvals": "decided_at decided_by rejection status",
        "found_transfers": "evidence outcome payout_id status",
        "reconciliations": "decided_at decided_by reason rejection status",
        "bank_detail_versions": "account_fingerprint account_name account_number account_sealed bank_code "
        "check_digit_valid last4 reason verified",
        "chargebacks": "held_minor sequence status uncovered_minor",
    },
    "orders": {
        "operation_stops": "lift_reason lifted_at lifted_by",
        "dead_letter_actions": "",
        "dead_letter_closures": "",
        "delivery_verifications": "",
        "dispute_resolutions": "decided_at decided_by reason refund_id release_minor status",
        "pin_reissues": "decided_at decided_by reason rejection status",
        "product_takedowns": "restored_at restored_because restored_by",
        "order_refunds": "counted reason sequence status",
    },
    "identity": {
        "dead_letter_actions": "",
        "dead_letter_closures": "",
        "staff_acts": "",
        "staff_grants": "decided_at decided_by expires_at prepared_at prepared_by status",
        "erasure_verdicts": "",
    },
}


@pytest.mark.parametrize("service", HISTORY)
async def test_no_role_of_a_service_changes_or_deletes_history(service: str, fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database(service)
    wrong: list[str] = []
    for role, url in (("api", urls.api), ("service", urls.service)):
        async with connected(url) as connection:
            for table, updatable in HISTORY[service].items():
                columns = [row[0] for row in await connection.fetch(_COLUMNS, table)]
                assert columns, f"{service} has no table {table}"
                assert set(updatable.split()) <= set(columns), f"{table} has no column of {updatable}"
                attempts = {f"DELETE FROM {table}": "every row", f"TRUNCATE {table}": "the table"}
                attempts |= {
                    f"UPDATE {table} SET {column} = {column}": column
                    for column in set(columns) - set(updatable.split())
                }
                for statement in attempts:
                    try:
                        await connection.execute(statement)
                    except (asyncpg.InsufficientPrivilegeError, asyncpg.GeneratedAlwaysError):
                        continue
                    wrong.append(f"{role}: {statement}")
    assert wrong == []


# Without generated columns, which accept no value.
_COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''
"""


@pytest.mark.parametrize("service", HISTORY)
async def test_the_columns_that_use_cases_change_may_be_changed(service: str, fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database(service)
    async with connected(urls.service) as connection:
        for table, updatable in HISTORY[service].items():
            for column in updatable.split():
                await connection.execute(f"UPDATE {table} SET {column} = {column}")


async def test_the_webhooks_of_this_week_are_kept(fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database("payments")
    async with connected(urls.service) as connection:
        with pytest.raises(asyncpg.RestrictViolationError):
            await connection.execute("SELECT remove_final_webhooks(now() - interval '6 days', 10)")
        assert await connection.fetchval("SELECT remove_final_webhooks(now() - interval '8 days', 10)") == 0
    async with connected(urls.api) as api:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await api.execute("SELECT remove_final_webhooks(now() - interval '8 days', 10)")
