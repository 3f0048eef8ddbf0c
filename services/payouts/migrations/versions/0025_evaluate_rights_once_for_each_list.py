"""Evaluate the caller's rights once for each list of payouts."""

from collections.abc import Callable, Iterator

from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    # A call in a policy runs for each row, one in a subquery once.
    for statement in _statements(lambda call: f"(SELECT {call})"):
        op.execute(statement)


def downgrade() -> None:
    for statement in _statements(lambda call: call):
        op.execute(statement)


def _statements(evaluated: Callable[[str], str]) -> Iterator[str]:
    def may(permission: str) -> str:
        return evaluated(f"app_may('{permission}')")

    vendor = f"vendor_id = {evaluated('app_vendor_id()')}"
    own_or_read = f"({vendor} AND {may('wallet:own')}) OR {may('payouts:read')}"
    policies = {
        "payout_requests_select": own_or_read,
        "payout_requests_of_resets": may("payouts:reset"),
        "payout_holds_select": own_or_read,
        "payout_transfers_select": own_or_read,
        "payout_transfers_select_observed": may("exceptions:read"),
        "payout_transfers_of_resets": may("payouts:reset"),
        "payout_exceptions_select": f"{own_or_read} OR {may('exceptions:read')}",
        "bank_detail_versions_select": f"({vendor} AND {may('bank_details:own')}) OR ({vendor} AND {may('wallet:own')})"
        f" OR {may('bank_details:read')} OR {may('payouts:read')}",
        "bank_detail_versions_of_resets": may("payouts:reset"),
    }
    for name, condition in policies.items():
        table = name.partition("_select")[0].partition("_of_resets")[0]
        yield f"ALTER POLICY {name} ON {table} USING ({condition})"
