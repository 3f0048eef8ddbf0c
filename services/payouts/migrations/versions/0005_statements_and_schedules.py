"""A vendor's months and schedule of payouts; finance and auditors read any vendor's wallet.

Revision ID: 0005
"""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SERVICE = "payouts"
_API = f"campus_{SERVICE}_api"
_READ_BY_STAFF = ("vendors", "order_shares", "wallet_lines", "ledger_balances")
_OWN_WALLET = "vendor_id = app_vendor_id() AND app_may('wallet:own')"


def upgrade() -> None:
    for statement in (*_MONTHS, *_SCHEDULES):
        op.execute(statement)
    for table in _READ_BY_STAFF:
        op.execute(
            f"CREATE POLICY {table}_select_staff ON {table} FOR SELECT TO {_API} USING ((SELECT app_may('payouts:read')))"
        )
    grant_api_v1(SERVICE, "payout_schedules", "SELECT, INSERT, UPDATE")
    for verb, clause in (("INSERT", "WITH CHECK"), ("UPDATE", "USING")):
        op.execute(
            f"CREATE POLICY payout_schedules_{verb.lower()} ON payout_schedules FOR {verb} TO {_API} {clause} ({_OWN_WALLET})"
        )
    # Decided by the worker alone.
    grant_api_v1(SERVICE, "scheduled_payouts", "SELECT")
    for table in ("payout_schedules", "scheduled_payouts"):
        op.execute(
            f"CREATE POLICY {table}_select ON {table} FOR SELECT TO {_API} "
            f"USING (({_OWN_WALLET}) OR app_may('payouts:read'))"
        )


def downgrade() -> None:
    op.execute("DROP TABLE scheduled_payouts")
    op.execute("DROP TABLE payout_schedules")
    for table in _READ_BY_STAFF:
        op.execute(f"DROP POLICY {table}_select_staff ON {table}")
    op.execute("DROP INDEX wallet_lines_in_time")


_MONTHS = (
    # A vendor's lines are in one order by place and by time, so that each month is one piece of the statement. New lines keep
    # to it; of two old ones written by two machines the later place may carry the earlier time.
    """
    UPDATE wallet_lines AS l SET at = ordered.latest
    FROM (SELECT position, max(at) OVER (PARTITION BY vendor_id ORDER BY position) AS latest FROM wallet_lines) AS ordered
    WHERE ordered.position = l.position AND ordered.latest > l.at
    """,
    "CREATE INDEX wallet_lines_in_time ON wallet_lines (vendor_id, at, position)",
)

_SCHEDULES = (
    """
    CREATE TABLE payout_schedules (
        vendor_id uuid PRIMARY KEY,
        frequency text NOT NULL,
        weekday text,
        minimum_minor bigint,
        due_at timestamptz,
        changed_by uuid NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT payout_schedules_frequency_known CHECK (frequency IN ('none', 'daily', 'weekly')),
        CONSTRAINT payout_schedules_weekday_known CHECK (weekday IN ('monday', 'tuesday', 'wednesday', 'thursday', 'friday',
            'saturday', 'sunday')),
        CONSTRAINT payout_schedules_weekly_has_weekday CHECK ((frequency = 'weekly') = (weekday IS NOT NULL)),
        CONSTRAINT payout_schedules_none_is_never_due CHECK ((frequency = 'none') = (due_at IS NULL)),
        CONSTRAINT payout_schedules_minimum_positive CHECK (minimum_minor > 0)
    )
    """,
    "CREATE INDEX payout_schedules_due ON payout_schedules (due_at) WHERE due_at IS NOT NULL",
    # One decision for each vendor and period (the day in Lagos on which it was due), whoever decided and however late.
    """
    CREATE TABLE scheduled_payouts (
        vendor_id uuid NOT NULL,
        period date NOT NULL,
        outcome text NOT NULL,
        reason text,
        payout_id uuid,
        available_minor bigint NOT NULL,
        due_at timestamptz NOT NULL,
        decided_at timestamptz NOT NULL,
        CONSTRAINT scheduled_payouts_pkey PRIMARY KEY (vendor_id, period),
        CONSTRAINT scheduled_payouts_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
        CONSTRAINT scheduled_payouts_outcome_known CHECK (outcome IN ('requested', 'skipped')),
        CONSTRAINT scheduled_payouts_requested_names_payout CHECK ((outcome = 'requested') = (payout_id IS NOT NULL)),
        CONSTRAINT scheduled_payouts_skipped_says_why CHECK ((outcome = 'skipped') = (reason IS NOT NULL))
    )
    """,
)
