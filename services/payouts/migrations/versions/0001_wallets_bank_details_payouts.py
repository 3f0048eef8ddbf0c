"""Wallets, bank details, payouts, their transfers and exceptions.

Revision ID: 0001
"""

from alembic import op

from common.migrations.functions import create_ledger_v1, create_messaging_v1, grant_api_v1, grant_roles_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SERVICE = "payouts"


def upgrade() -> None:
    grant_roles_v1(SERVICE)
    create_messaging_v1(SERVICE)
    create_ledger_v1(SERVICE)
    for statement in (*_PROJECTIONS, *_WALLETS, *_BANK_DETAILS, *_PAYOUTS):
        op.execute(statement)
    _let_the_api_role_in()


def downgrade() -> None:
    raise NotImplementedError("money is never migrated backwards: restore a backup instead")


# What other services said. `sequence` is the publisher's own count, so that news in any order ends in the same row.
_PROJECTIONS = (
    """
    CREATE TABLE vendors (
        id uuid PRIMARY KEY,
        owner_user_id uuid NOT NULL,
        legal_name text NOT NULL,
        sequence bigint NOT NULL
    )
    """,
    """
    CREATE TABLE order_shares (
        order_id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        remaining_vendor_minor bigint NOT NULL,
        sequence bigint NOT NULL,
        CONSTRAINT order_shares_never_negative CHECK (remaining_vendor_minor >= 0)
    )
    """,
    "CREATE INDEX order_shares_locked ON order_shares (vendor_id) INCLUDE (remaining_vendor_minor) WHERE remaining_vendor_minor > 0",
)

_WALLETS = (
    # The row whose lock puts everything that happens to one vendor's wallet into an order.
    """
    CREATE TABLE wallets (
        vendor_id uuid PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    """
    CREATE TABLE wallet_lines (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        kind text NOT NULL,
        source_key text NOT NULL,
        order_id uuid,
        payout_id uuid,
        gross_minor bigint,
        commission_minor bigint,
        delivery_fee_minor bigint,
        net_minor bigint NOT NULL,
        balance_minor bigint NOT NULL,
        at timestamptz NOT NULL,
        CONSTRAINT wallet_lines_source_once UNIQUE (source_key, kind),
        CONSTRAINT wallet_lines_kind_known CHECK (kind IN ('release', 'debt_repaid', 'refund', 'debt_taken', 'payout')),
        CONSTRAINT wallet_lines_balance_never_negative CHECK (balance_minor >= 0)
    )
    """,
    "CREATE INDEX wallet_lines_of_vendor ON wallet_lines (vendor_id, position DESC)",
)

_BANK_DETAILS = (
    # Every set of details a vendor ever had; payouts point at the one they were asked for with.
    """
    CREATE TABLE bank_detail_versions (
        id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        account_number text NOT NULL,
        last4 text NOT NULL,
        bank_code text NOT NULL,
        account_name text,
        verified boolean NOT NULL,
        reason text,
        check_digit_valid boolean,
        changed_by uuid NOT NULL,
        changed_at timestamptz NOT NULL,
        CONSTRAINT bank_detail_versions_ten_digits CHECK (account_number ~ '^[0-9]{10}$'),
        CONSTRAINT bank_detail_versions_last4 CHECK (last4 = right(account_number, 4))
    )
    """,
    "CREATE INDEX bank_detail_versions_of_vendor ON bank_detail_versions (vendor_id, changed_at)",
    """
    CREATE TABLE vendor_bank_details (
        vendor_id uuid PRIMARY KEY,
        version_id uuid NOT NULL,
        account_number text NOT NULL,
        last4 text NOT NULL,
        bank_code text NOT NULL,
        account_name text,
        verified boolean NOT NULL,
        reason text,
        check_digit_valid boolean,
        quarantine_reason text,
        updated_at timestamptz NOT NULL,
        CONSTRAINT vendor_bank_details_version FOREIGN KEY (version_id) REFERENCES bank_detail_versions (id),
        CONSTRAINT vendor_bank_details_ten_digits CHECK (account_number ~ '^[0-9]{10}$'),
        CONSTRAINT vendor_bank_details_last4 CHECK (last4 = right(account_number, 4)),
        CONSTRAINT vendor_bank_details_quarantined_unverified CHECK (quarantine_reason IS NULL OR NOT verified)
    )
    """,
)

_PAYOUTS = (
    """
    CREATE TABLE payout_requests (
        id uuid PRIMARY KEY,
        vendor_id uuid NOT NULL,
        amount bigint NOT NULL,
        currency char(3) NOT NULL,
        status text NOT NULL,
        bank_details_version_id uuid NOT NULL,
        requested_by uuid NOT NULL,
        transfer_reference text,
        transfer_code text,
        transfer_failure text,
        retry_count integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        processed_at timestamptz,
        CONSTRAINT payout_requests_bank_details FOREIGN KEY (bank_details_version_id) REFERENCES bank_detail_versions (id),
        CONSTRAINT payout_requests_amount_positive CHECK (amount > 0),
        CONSTRAINT payout_requests_status_known CHECK (status IN ('pending', 'processed', 'failed')),
        CONSTRAINT payout_requests_retry_count_at_most_3 CHECK (retry_count BETWEEN 0 AND 3)
    )
    """,
    "CREATE INDEX payout_requests_of_vendor ON payout_requests (vendor_id, created_at DESC)",
    "CREATE INDEX payout_requests_newest ON payout_requests (created_at DESC, id DESC)",
    "CREATE INDEX payout_requests_pending ON payout_requests (created_at, id) WHERE status = 'pending'",
    # One answer for each (caller, key), for good (contract section 3).
    """
    CREATE TABLE dispatch_batches (
        id uuid PRIMARY KEY,
        dispatched_by uuid NOT NULL,
        idempotency_key uuid NOT NULL,
        fingerprint bytea NOT NULL,
        dry_run boolean NOT NULL,
        gateway_balance_minor bigint NOT NULL,
        answer jsonb,
        created_at timestamptz NOT NULL,
        finished_at timestamptz,
        CONSTRAINT dispatch_batches_key_once UNIQUE (dispatched_by, idempotency_key)
    )
    """,
    """
    CREATE TABLE dispatch_lines (
        batch_id uuid NOT NULL,
        payout_id uuid NOT NULL,
        place integer NOT NULL,
        outcome text NOT NULL,
        reason text,
        amount bigint NOT NULL,
        CONSTRAINT dispatch_lines_pkey PRIMARY KEY (batch_id, payout_id),
        CONSTRAINT dispatch_lines_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches (id),
        CONSTRAINT dispatch_lines_outcome_known CHECK (outcome IN ('planned', 'reserved', 'skipped')),
        CONSTRAINT dispatch_lines_skipped_says_why CHECK ((outcome = 'skipped') = (reason IS NOT NULL))
    )
    """,
    # One row for each attempt; its reference is written down before the gateway hears of it, and never changes.
    """
    CREATE TABLE payout_transfers (
        id uuid PRIMARY KEY,
        payout_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        batch_id uuid NOT NULL,
        attempt integer NOT NULL,
        reference text NOT NULL,
        status text NOT NULL,
        amount bigint NOT NULL,
        currency char(3) NOT NULL,
        bank_details_version_id uuid NOT NULL,
        recipient_code text,
        transfer_code text,
        failure text,
        submissions integer NOT NULL DEFAULT 0,
        asks integer NOT NULL DEFAULT 0,
        due_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT payout_transfers_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
        CONSTRAINT payout_transfers_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches (id),
        CONSTRAINT payout_transfers_bank_details FOREIGN KEY (bank_details_version_id) REFERENCES bank_detail_versions (id),
        CONSTRAINT payout_transfers_reference_once UNIQUE (reference),
        CONSTRAINT payout_transfers_attempt_once UNIQUE (payout_id, attempt),
        CONSTRAINT payout_transfers_reference_shape CHECK (reference ~ '^po-[0-9a-f]{32}$'),
        CONSTRAINT payout_transfers_status_known CHECK (status IN ('reserved', 'submitting', 'unknown', 'pending', 'received',
            'otp', 'success', 'failed', 'rejected', 'blocked', 'abandoned', 'reversed'))
    )
    """,
    "CREATE INDEX payout_transfers_due ON payout_transfers (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX payout_transfers_of_batch ON payout_transfers (batch_id)",
    # What the gateway said, in the order in which we heard it. Nothing here is ever changed.
    """
    CREATE TABLE transfer_observations (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id uuid NOT NULL,
        transfer_id uuid NOT NULL,
        heard_from text NOT NULL,
        status text NOT NULL,
        verdict text NOT NULL,
        amount bigint NOT NULL,
        currency text NOT NULL,
        transfer_code text,
        reason text,
        gateway_event_id text,
        observed_at timestamptz NOT NULL,
        CONSTRAINT transfer_observations_transfer FOREIGN KEY (transfer_id) REFERENCES payout_transfers (id),
        CONSTRAINT transfer_observations_heard_from_known CHECK (heard_from IN ('webhook', 'call', 'query')),
        CONSTRAINT transfer_observations_verdict_known CHECK (verdict IN ('advanced', 'confirmed', 'late_success', 'repeated',
            'stale', 'contradiction'))
    )
    """,
    "CREATE INDEX transfer_observations_of_transfer ON transfer_observations (transfer_id, position)",
    """
    CREATE FUNCTION observations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'what the gateway said is never edited' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    "CREATE TRIGGER transfer_observations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer_observations "
    "FOR EACH STATEMENT EXECUTE FUNCTION observations_refuse_change()",
    """
    CREATE TABLE payout_exceptions (
        id uuid PRIMARY KEY,
        payout_id uuid,
        batch_id uuid,
        vendor_id uuid,
        cause text NOT NULL,
        severity text NOT NULL,
        status text NOT NULL,
        detail text NOT NULL,
        amount bigint NOT NULL,
        respond_by timestamptz NOT NULL,
        opened_at timestamptz NOT NULL,
        closed_at timestamptz,
        closed_because text,
        CONSTRAINT payout_exceptions_payout FOREIGN KEY (payout_id) REFERENCES payout_requests (id),
        CONSTRAINT payout_exceptions_batch FOREIGN KEY (batch_id) REFERENCES dispatch_batches (id),
        CONSTRAINT payout_exceptions_of_payout_or_batch CHECK ((payout_id IS NULL) <> (batch_id IS NULL)),
        CONSTRAINT payout_exceptions_severity_known CHECK (severity IN ('SEV-1', 'SEV-2', 'SEV-3')),
        CONSTRAINT payout_exceptions_status_known CHECK (status IN ('open', 'closed')),
        CONSTRAINT payout_exceptions_closed_says_why
            CHECK ((status = 'closed') = (closed_at IS NOT NULL) AND (status = 'closed') = (closed_because IS NOT NULL))
    )
    """,
    "CREATE UNIQUE INDEX payout_exceptions_one_live ON payout_exceptions (payout_id) WHERE status = 'open'",
    "CREATE UNIQUE INDEX payout_exceptions_one_live_of_batch ON payout_exceptions (batch_id) WHERE status = 'open'",
    "CREATE INDEX payout_exceptions_newest ON payout_exceptions (opened_at DESC, id DESC)",
    "CREATE INDEX payout_exceptions_of_vendor ON payout_exceptions (vendor_id, opened_at)",
)

_OWN_WALLET = "vendor_id = app_vendor_id() AND app_may('wallet:own')"
_OWN_BANK_DETAILS = "vendor_id = app_vendor_id() AND app_may('bank_details:own')"
_SEEN_BANK_COLUMNS = "vendor_id, last4, bank_code, account_name, verified, reason, check_digit_valid"


def _let_the_api_role_in() -> None:
    """Row policies of the API role. It may write an account number, and never read one: only its last four digits."""
    grant_api_v1(SERVICE, "vendors", "SELECT")
    _policy("vendors", "SELECT", "id = app_vendor_id()")
    grant_api_v1(SERVICE, "order_shares", "SELECT")
    _policy("order_shares", "SELECT", _OWN_WALLET)

    # UPDATE is what PostgreSQL asks of who locks a row; the policy lets it be no other vendor's afterwards.
    grant_api_v1(SERVICE, "wallets", "SELECT, INSERT (vendor_id), UPDATE (vendor_id)")
    for verb in ("SELECT", "INSERT", "UPDATE"):
        _policy("wallets", verb, _OWN_WALLET)
    grant_api_v1(SERVICE, "wallet_lines", "SELECT, INSERT")
    for verb in ("SELECT", "INSERT"):
        _policy("wallet_lines", verb, _OWN_WALLET)
    _policy(
        "ledger_balances",
        "SELECT",
        "app_may('wallet:own') AND (account IN ('wallet:' || app_vendor_id(), 'vendor_debt:' || app_vendor_id()) "
        "OR account IN (SELECT 'in_transit:' || id FROM payout_requests WHERE vendor_id = app_vendor_id()))",
    )

    written = f"id, {_SEEN_BANK_COLUMNS}, account_number, changed_by, changed_at"
    grant_api_v1(
        SERVICE,
        "bank_detail_versions",
        f"SELECT (id, {_SEEN_BANK_COLUMNS}, changed_by, changed_at), INSERT ({written})",
    )
    _policy("bank_detail_versions", "INSERT", _OWN_BANK_DETAILS)
    # The vendor's account is shown, by its last four digits, with each payout.
    _policy(
        "bank_detail_versions",
        "SELECT",
        f"({_OWN_BANK_DETAILS}) OR ({_OWN_WALLET}) OR app_may('bank_details:read') OR app_may('payouts:read')",
    )
    columns = f"version_id, {_SEEN_BANK_COLUMNS}, quarantine_reason, updated_at"
    grant_api_v1(
        SERVICE,
        "vendor_bank_details",
        f"SELECT ({columns}), INSERT ({columns}, account_number), UPDATE ({columns}, account_number)",
    )
    _policy(
        "vendor_bank_details", "SELECT", f"({_OWN_BANK_DETAILS}) OR ({_OWN_WALLET}) OR app_may('bank_details:read')"
    )
    for verb in ("INSERT", "UPDATE"):
        _policy("vendor_bank_details", verb, _OWN_BANK_DETAILS)

    grant_api_v1(SERVICE, "payout_requests", "SELECT, INSERT")
    _policy("payout_requests", "SELECT", f"({_OWN_WALLET}) OR app_may('payouts:read')")
    _policy("payout_requests", "INSERT", _OWN_WALLET)
    grant_api_v1(SERVICE, "payout_transfers", "SELECT")
    _policy("payout_transfers", "SELECT", f"({_OWN_WALLET}) OR app_may('payouts:read')")
    grant_api_v1(SERVICE, "payout_exceptions", "SELECT")
    _policy("payout_exceptions", "SELECT", f"({_OWN_WALLET}) OR app_may('payouts:read') OR app_may('exceptions:read')")

    own_batch = "dispatched_by = app_user_id() AND app_may('payouts:dispatch')"
    grant_api_v1(SERVICE, "dispatch_batches", "SELECT")
    _policy("dispatch_batches", "SELECT", own_batch)


def _policy(table: str, verb: str, rule: str) -> None:
    clause = {
        "SELECT": f"USING ({rule})",
        "INSERT": f"WITH CHECK ({rule})",
        "UPDATE": f"USING ({rule}) WITH CHECK ({rule})",
    }
    op.execute(f"CREATE POLICY {table}_{verb.lower()} ON {table} FOR {verb} TO campus_{SERVICE}_api {clause[verb]}")
