"""Money in and money held: the book, the orders as payments sees them, intents, webhooks, charges, refunds, releases."""

from alembic import op

from common.migrations.functions import create_ledger_v1, create_messaging_v1, grant_api_v1, grant_roles_v1

revision = "0001"
down_revision = None

SERVICE = "payments"


def upgrade() -> None:
    grant_roles_v1(SERVICE)
    create_messaging_v1(SERVICE)
    create_ledger_v1(SERVICE)
    for statement in TABLES:
        op.execute(statement)
    for table, privileges in API_PRIVILEGES.items():
        grant_api_v1(SERVICE, table, privileges)
    for statement in POLICIES:
        op.execute(statement)


def downgrade() -> None:
    raise NotImplementedError("money is never migrated backwards: restore a backup instead")


TABLES = (
    # Who pays, as identity told it: the gateway wants an address for the receipt.
    """
    CREATE TABLE buyers (
        user_id uuid PRIMARY KEY,
        email text NOT NULL,
        heard_at timestamptz NOT NULL
    )
    """,
    # Payments' own view of an order, heard from orders. No escrow is ever made from anything else.
    """
    CREATE TABLE payable_orders (
        id uuid PRIMARY KEY,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        total_minor bigint NOT NULL,
        commission_minor bigint NOT NULL,
        delivery_fee_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        status text NOT NULL,
        payment_due_at timestamptz NOT NULL,
        heard_at timestamptz NOT NULL,
        CONSTRAINT payable_orders_status_known CHECK (status IN ('Processing', 'cancelled', 'expired', 'paid_escrow')),
        CONSTRAINT payable_orders_total_above_zero CHECK (total_minor > 0),
        CONSTRAINT payable_orders_parts_within_total CHECK (
            commission_minor >= 0 AND delivery_fee_minor >= 0 AND commission_minor + delivery_fee_minor <= total_minor
        )
    )
    """,
    "CREATE INDEX payable_orders_of_buyer ON payable_orders (buyer_id)",
    """
    CREATE TABLE payment_intents (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        reference text NOT NULL,
        amount_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        status text NOT NULL,
        channel text,
        callback_url text,
        authorization_url text,
        access_code text,
        opening_until timestamptz,
        expires_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL,
        paid_at timestamptz,
        CONSTRAINT payment_intents_order FOREIGN KEY (order_id) REFERENCES payable_orders (id),
        CONSTRAINT payment_intents_reference_once UNIQUE (reference),
        CONSTRAINT payment_intents_status_known CHECK (
            status IN ('opening', 'pending', 'paid', 'quarantined', 'overpaid', 'closed')
        ),
        CONSTRAINT payment_intents_open_has_address CHECK (status <> 'pending' OR authorization_url IS NOT NULL)
    )
    """,
    # One live intent of an order, whoever asks at the same moment.
    "CREATE UNIQUE INDEX payment_intents_one_live ON payment_intents (order_id) WHERE status IN ('opening', 'pending')",
    "CREATE INDEX payment_intents_of_buyer ON payment_intents (buyer_id, created_at)",
    "CREATE INDEX payment_intents_of_order ON payment_intents (order_id)",
    "CREATE INDEX payment_intents_newest ON payment_intents (created_at, id)",
    # Every reference that was ever written down before a call: whichever of them is paid, its order is known.
    """
    CREATE TABLE payment_references (
        reference text PRIMARY KEY,
        intent_id uuid NOT NULL,
        buyer_id uuid NOT NULL,
        settlement text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT payment_references_intent FOREIGN KEY (intent_id) REFERENCES payment_intents (id)
    )
    """,
    "CREATE INDEX payment_references_of_intent ON payment_references (intent_id)",
    # The caller's key stays bound to its effect for good (contract section 3).
    """
    CREATE TABLE payment_intent_keys (
        caller_id uuid NOT NULL,
        idempotency_key uuid NOT NULL,
        fingerprint bytea NOT NULL,
        intent_id uuid NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT payment_intent_keys_pkey PRIMARY KEY (caller_id, idempotency_key),
        CONSTRAINT payment_intent_keys_intent FOREIGN KEY (intent_id) REFERENCES payment_intents (id)
    )
    """,
    # The specification's deduplication table, with the outcome and the bytes as they came.
    """
    CREATE TABLE processed_webhook_events (
        id text PRIMARY KEY,
        provider text NOT NULL,
        event_type text NOT NULL,
        payload jsonb NOT NULL,
        raw bytea NOT NULL,
        outcome text NOT NULL,
        processed_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT processed_webhook_events_outcome_known CHECK (outcome IN ('queued', 'done', 'ignored', 'dead'))
    )
    """,
    """
    CREATE TABLE dead_letter_webhooks (
        id uuid PRIMARY KEY,
        webhook_id text NOT NULL,
        event_type text NOT NULL,
        error text NOT NULL,
        attempts integer NOT NULL,
        failed_at timestamptz NOT NULL DEFAULT now(),
        replayed_at timestamptz,
        CONSTRAINT dead_letter_webhooks_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id)
    )
    """,
    "CREATE INDEX dead_letter_webhooks_newest ON dead_letter_webhooks (failed_at, id)",
    # Each charge that the gateway told of, once, with what it was found to be worth.
    """
    CREATE TABLE charges (
        id uuid PRIMARY KEY,
        identity text NOT NULL,
        reference text NOT NULL,
        gateway_id text,
        webhook_id text NOT NULL,
        order_id uuid,
        amount_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        channel text,
        verdict text NOT NULL,
        settled_at timestamptz NOT NULL,
        CONSTRAINT charges_identity_once UNIQUE (identity),
        CONSTRAINT charges_amount_above_zero CHECK (amount_minor > 0),
        CONSTRAINT charges_verdict_known CHECK (verdict IN ('covered', 'second_charge', 'quarantined'))
    )
    """,
    "CREATE INDEX charges_of_reference ON charges (reference)",
    # One order is covered once: a second covering charge would break this, whatever the code thinks.
    "CREATE UNIQUE INDEX charges_order_covered_once ON charges (order_id) WHERE verdict = 'covered'",
    """
    CREATE TABLE escrows (
        order_id uuid PRIMARY KEY,
        buyer_id uuid NOT NULL,
        vendor_id uuid NOT NULL,
        charge_id uuid NOT NULL,
        held_minor bigint NOT NULL,
        locked_vendor_minor bigint NOT NULL,
        locked_commission_minor bigint NOT NULL,
        locked_delivery_fee_minor bigint NOT NULL,
        released_vendor_minor bigint NOT NULL,
        released_commission_minor bigint NOT NULL,
        released_delivery_fee_minor bigint NOT NULL,
        refunded_minor bigint NOT NULL,
        disputed_at timestamptz,
        dispute_sequence bigint NOT NULL,
        held_at timestamptz NOT NULL,
        CONSTRAINT escrows_order FOREIGN KEY (order_id) REFERENCES payable_orders (id),
        CONSTRAINT escrows_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
        CONSTRAINT escrows_never_negative CHECK (
            least(locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
                  released_commission_minor, released_delivery_fee_minor, refunded_minor) >= 0
        ),
        CONSTRAINT escrows_account_for_all CHECK (
            locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor
            + released_vendor_minor + released_commission_minor + released_delivery_fee_minor
            + refunded_minor = held_minor
        )
    )
    """,
    """
    CREATE TABLE releases (
        id uuid PRIMARY KEY,
        order_id uuid NOT NULL,
        gross_minor bigint NOT NULL,
        commission_minor bigint NOT NULL,
        delivery_fee_minor bigint NOT NULL,
        net_minor bigint NOT NULL,
        cause text NOT NULL,
        released_by uuid,
        released_at timestamptz NOT NULL,
        CONSTRAINT releases_order FOREIGN KEY (order_id) REFERENCES escrows (order_id),
        CONSTRAINT releases_cause_known CHECK (cause IN ('delivery', 'staff', 'resolution')),
        CONSTRAINT releases_parts_make_gross CHECK (commission_minor + delivery_fee_minor + net_minor = gross_minor)
    )
    """,
    "CREATE INDEX releases_of_order ON releases (order_id)",
    """
    CREATE TABLE refunds (
        id uuid PRIMARY KEY,
        kind text NOT NULL,
        charge_id uuid NOT NULL,
        order_id uuid,
        buyer_id uuid,
        amount_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        status text NOT NULL,
        reason text NOT NULL,
        gateway_refund_id text,
        failure text,
        submitted_at timestamptz,
        questions integer NOT NULL DEFAULT 0,
        due_at timestamptz,
        created_at timestamptz NOT NULL,
        settled_at timestamptz,
        CONSTRAINT refunds_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
        CONSTRAINT refunds_amount_above_zero CHECK (amount_minor > 0),
        CONSTRAINT refunds_kind_known CHECK (kind IN ('order', 'overpayment', 'quarantine')),
        CONSTRAINT refunds_status_known CHECK (status IN ('pending', 'submitting', 'submitted', 'settled', 'failed'))
    )
    """,
    "CREATE INDEX refunds_due ON refunds (due_at) WHERE status = 'submitted'",
    "CREATE INDEX refunds_of_gateway ON refunds (gateway_refund_id)",
    "CREATE INDEX refunds_of_order ON refunds (order_id)",
    """
    CREATE TABLE quarantined_charges (
        id uuid PRIMARY KEY,
        charge_id uuid NOT NULL,
        reference text NOT NULL,
        order_id uuid,
        amount_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        reason text NOT NULL,
        status text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT quarantined_charges_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
        CONSTRAINT quarantined_charges_charge_once UNIQUE (charge_id),
        CONSTRAINT quarantined_charges_status_known CHECK (status IN ('quarantined'))
    )
    """,
    "CREATE INDEX quarantined_charges_newest ON quarantined_charges (created_at, id)",
)

# What the API role may touch, column by column where it matters. `charges`, `refunds` and the webhooks' bodies are not for it.
API_PRIVILEGES = {
    "buyers": "SELECT",
    "payable_orders": "SELECT",
    "payment_intents": "SELECT, INSERT, UPDATE (reference, status, authorization_url, access_code, opening_until)",
    "payment_references": "SELECT, INSERT",
    "payment_intent_keys": "SELECT, INSERT",
    "processed_webhook_events": "SELECT (id, event_type, outcome), UPDATE (outcome)",
    "dead_letter_webhooks": "SELECT, UPDATE (replayed_at)",
    "escrows": (
        "SELECT, UPDATE (locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, "
        "released_vendor_minor, released_commission_minor, released_delivery_fee_minor, refunded_minor)"
    ),
    "releases": "SELECT, INSERT",
    "quarantined_charges": "SELECT",
}

POLICIES = (
    "CREATE POLICY buyers_own ON buyers FOR SELECT USING (user_id = app_user_id())",
    "CREATE POLICY payable_orders_visible ON payable_orders FOR SELECT "
    "USING (buyer_id = app_user_id() OR app_may('escrow:release'))",
    "CREATE POLICY payment_intents_visible ON payment_intents FOR SELECT "
    "USING (buyer_id = app_user_id() OR app_may('ledger:read'))",
    "CREATE POLICY payment_intents_started ON payment_intents FOR INSERT WITH CHECK (buyer_id = app_user_id())",
    "CREATE POLICY payment_intents_opened ON payment_intents FOR UPDATE USING (buyer_id = app_user_id())",
    "CREATE POLICY payment_references_own ON payment_references FOR SELECT USING (buyer_id = app_user_id())",
    "CREATE POLICY payment_references_written ON payment_references FOR INSERT WITH CHECK (buyer_id = app_user_id())",
    "CREATE POLICY payment_intent_keys_own ON payment_intent_keys FOR SELECT USING (caller_id = app_user_id())",
    "CREATE POLICY payment_intent_keys_bound ON payment_intent_keys FOR INSERT WITH CHECK (caller_id = app_user_id())",
    "CREATE POLICY processed_webhook_events_visible ON processed_webhook_events FOR SELECT "
    "USING (app_may('dead_letters:read') OR app_may('webhooks:replay'))",
    "CREATE POLICY processed_webhook_events_replayed ON processed_webhook_events FOR UPDATE "
    "USING (app_may('webhooks:replay'))",
    "CREATE POLICY dead_letter_webhooks_visible ON dead_letter_webhooks FOR SELECT "
    "USING (app_may('dead_letters:read') OR app_may('webhooks:replay'))",
    "CREATE POLICY dead_letter_webhooks_replayed ON dead_letter_webhooks FOR UPDATE USING (app_may('webhooks:replay'))",
    "CREATE POLICY escrows_visible ON escrows FOR SELECT USING (app_may('escrow:release'))",
    "CREATE POLICY escrows_released ON escrows FOR UPDATE USING (app_may('escrow:release'))",
    "CREATE POLICY releases_visible ON releases FOR SELECT USING (app_may('escrow:release'))",
    "CREATE POLICY releases_made ON releases FOR INSERT WITH CHECK (app_may('escrow:release'))",
    "CREATE POLICY quarantined_charges_visible ON quarantined_charges FOR SELECT USING (app_may('ledger:read'))",
    "CREATE POLICY ledger_transactions_visible ON ledger_transactions FOR SELECT USING (app_may('ledger:read'))",
    # A user reads the entries of their own rewards; everything else is for staff.
    "CREATE POLICY ledger_entries_visible ON ledger_entries FOR SELECT "
    "USING (app_may('ledger:read') OR account = 'buyer_reward:' || app_user_id()::text)",
    "CREATE POLICY ledger_balances_visible ON ledger_balances FOR SELECT USING (app_may('ledger:read'))",
)
