"""What orders, the book and the gateway say of the same money, compared: a case for each kobo that nobody can explain."""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SERVICE = "payments"


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
    grant_api_v1(SERVICE, "reconciliation_cases", "SELECT, UPDATE (status, closed_at, closed_by, evidence)")
    for statement in POLICIES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP INDEX charges_settled, refunds_settled, escrows_held")
    op.execute("DROP TABLE reconciliation_cases, reconciliation_runs")


TABLES = (
    # `explained`: a later look found nothing wrong any more. `closed`: a person explained it, with evidence.
    """
    CREATE TABLE reconciliation_cases (
        id uuid PRIMARY KEY,
        kind text NOT NULL,
        subject text NOT NULL,
        reference text,
        order_id uuid,
        ours_minor bigint NOT NULL,
        theirs_minor bigint NOT NULL,
        unexplained_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        detail text NOT NULL,
        status text NOT NULL,
        opened_at timestamptz NOT NULL,
        seen_at timestamptz NOT NULL,
        alerted_at timestamptz,
        closed_at timestamptz,
        closed_by uuid,
        evidence text,
        CONSTRAINT reconciliation_cases_kind_known CHECK (
            kind IN ('charge_not_in_book', 'charge_not_at_gateway', 'charge_differs', 'charge_without_escrow',
                     'refund_not_in_book', 'refund_not_at_gateway', 'refund_differs', 'order_held_without_charge')
        ),
        CONSTRAINT reconciliation_cases_status_known CHECK (status IN ('open', 'explained', 'closed')),
        CONSTRAINT reconciliation_cases_ends_once CHECK ((status = 'open') = (closed_at IS NULL)),
        CONSTRAINT reconciliation_cases_closed_with_evidence CHECK (
            (status = 'closed') = (closed_by IS NOT NULL AND evidence IS NOT NULL)
        )
    )
    """,
    # One open case of a subject, however often and by how many workers it is found.
    "CREATE UNIQUE INDEX reconciliation_cases_one_open ON reconciliation_cases (subject, kind) WHERE status = 'open'",
    "CREATE INDEX reconciliation_cases_of_subject ON reconciliation_cases (subject, kind, opened_at)",
    "CREATE INDEX reconciliation_cases_newest ON reconciliation_cases (opened_at, id)",
    # The one row that says when the next daily run is due: of two workers one takes it.
    """
    CREATE TABLE reconciliation_runs (
        the_only boolean PRIMARY KEY DEFAULT true,
        due_at timestamptz,
        CONSTRAINT reconciliation_runs_is_one CHECK (the_only)
    )
    """,
    "INSERT INTO reconciliation_runs DEFAULT VALUES",
    "CREATE INDEX charges_settled ON charges (settled_at, id)",
    "CREATE INDEX refunds_settled ON refunds (settled_at, id) WHERE status = 'settled'",
    "CREATE INDEX escrows_held ON escrows (held_at, order_id)",
)

_READERS = "app_may('ledger:read') OR app_may('exceptions:read')"

POLICIES = (
    f"CREATE POLICY reconciliation_cases_visible ON reconciliation_cases FOR SELECT USING ({_READERS})",
    "CREATE POLICY reconciliation_cases_closed ON reconciliation_cases FOR UPDATE USING (app_may('exceptions:classify'))",
)
