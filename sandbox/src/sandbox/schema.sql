CREATE TABLE IF NOT EXISTS settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- Every movement of money at the gateway. A mistake is answered by an opposite movement.
CREATE TABLE IF NOT EXISTS movements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    reference TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    gateway TEXT NOT NULL DEFAULT 'paystack',
    balance_after INTEGER NOT NULL CHECK (balance_after >= 0),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS movements_by_currency ON movements (currency, id);
CREATE INDEX IF NOT EXISTS movements_by_reference ON movements (reference);
CREATE TRIGGER IF NOT EXISTS movements_never_change BEFORE UPDATE ON movements
    BEGIN SELECT RAISE(ABORT, 'movements are append-only'); END;
CREATE TRIGGER IF NOT EXISTS movements_never_vanish BEFORE DELETE ON movements
    BEGIN SELECT RAISE(ABORT, 'movements are append-only'); END;

CREATE TABLE IF NOT EXISTS customers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email TEXT NOT NULL UNIQUE,
    customer_code TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    reference TEXT NOT NULL,
    access_code TEXT NOT NULL UNIQUE,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    requested_minor INTEGER NOT NULL,
    requested_currency TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('abandoned', 'success', 'failed')),
    gateway_response TEXT NOT NULL,
    channel TEXT NOT NULL,
    channels TEXT NOT NULL,
    callback_url TEXT,
    metadata TEXT NOT NULL,
    gateway TEXT NOT NULL DEFAULT 'paystack',
    created_at TEXT NOT NULL,
    paid_at TEXT,
    fees_minor INTEGER,
    settlement_id INTEGER,
    -- Of a charge by bank transfer: the last moment of its account.
    account_expires_at TEXT,
    -- Of a further payment into that account: the charge whose reference it has too.
    paid_into INTEGER REFERENCES transactions (id)
) STRICT;
CREATE INDEX IF NOT EXISTS transactions_by_creation ON transactions (created_at);
CREATE INDEX IF NOT EXISTS transactions_by_reference ON transactions (reference);
CREATE UNIQUE INDEX IF NOT EXISTS transactions_opened_once ON transactions (reference) WHERE paid_into IS NULL;

CREATE TABLE IF NOT EXISTS recipients (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    recipient_code TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    account_number TEXT NOT NULL,
    bank_code TEXT NOT NULL,
    currency TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (account_number, bank_code)
) STRICT;

CREATE TABLE IF NOT EXISTS transfers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    transfer_code TEXT NOT NULL UNIQUE,
    reference TEXT NOT NULL UNIQUE,
    recipient_id INTEGER NOT NULL REFERENCES recipients (id),
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    reason TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('otp', 'pending', 'success', 'failed', 'reversed')),
    planned TEXT NOT NULL CHECK (planned IN ('success', 'failed', 'reversed')),
    failure TEXT,
    next_move_at REAL,
    gateway TEXT NOT NULL DEFAULT 'paystack',
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS transfers_due ON transfers (next_move_at) WHERE next_move_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS transfers_by_creation ON transfers (created_at);

CREATE TABLE IF NOT EXISTS refunds (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    refund_reference TEXT NOT NULL UNIQUE,
    transaction_id INTEGER NOT NULL REFERENCES transactions (id),
    amount_minor INTEGER NOT NULL,
    currency TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'needs-attention', 'processed', 'failed')),
    failure TEXT,
    merchant_note TEXT NOT NULL,
    customer_note TEXT NOT NULL,
    next_move_at REAL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS refunds_due ON refunds (next_move_at) WHERE next_move_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS refunds_by_transaction ON refunds (transaction_id);

CREATE TABLE IF NOT EXISTS disputes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    transaction_id INTEGER NOT NULL REFERENCES transactions (id),
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    status TEXT NOT NULL CHECK (status IN ('awaiting-merchant-feedback', 'awaiting-bank-feedback', 'resolved')),
    resolution TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    due_at TEXT,
    resolved_at TEXT,
    evidence_id INTEGER,
    attachments TEXT,
    message TEXT
) STRICT;

CREATE TABLE IF NOT EXISTS dispute_evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dispute_id INTEGER NOT NULL REFERENCES disputes (id),
    content TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

-- A file is named when its address is given out, and has content after its upload.
CREATE TABLE IF NOT EXISTS dispute_files (
    file_name TEXT PRIMARY KEY,
    dispute_id INTEGER NOT NULL REFERENCES disputes (id),
    content BLOB
) STRICT;

CREATE TABLE IF NOT EXISTS settlements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'success', 'failed')),
    currency TEXT NOT NULL,
    processed_minor INTEGER NOT NULL,
    fees_minor INTEGER NOT NULL,
    deductions_minor INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    gateway TEXT NOT NULL DEFAULT 'paystack',
    destination TEXT NOT NULL DEFAULT 'account'
) STRICT;

CREATE TABLE IF NOT EXISTS accounts (
    bank_code TEXT NOT NULL,
    account_number TEXT NOT NULL,
    account_name TEXT NOT NULL,
    PRIMARY KEY (bank_code, account_number)
) STRICT;

CREATE TABLE IF NOT EXISTS webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target TEXT NOT NULL CHECK (target IN ('gateway', 'messaging', 'sms', 'flutterwave')),
    event TEXT NOT NULL,
    reference TEXT NOT NULL,
    body BLOB NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'dropped', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at REAL NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS webhooks_due ON webhooks (next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS webhooks_by_reference ON webhooks (reference);

CREATE TABLE IF NOT EXISTS webhook_attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id),
    attempted_at TEXT NOT NULL,
    status_code INTEGER,
    failure TEXT,
    duration_milliseconds INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS webhook_attempts_by_webhook ON webhook_attempts (webhook_id);

CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    channel TEXT NOT NULL,
    recipient TEXT NOT NULL,
    sender TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    html TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS messages_by_recipient ON messages (recipient, id);

-- Whose addresses are known, so that the mailbox shows one person's mails and text messages together.
CREATE TABLE IF NOT EXISTS people (
    address TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;

-- The messaging app's templates. `reason` is the reviewer's word, NONE without one.
CREATE TABLE IF NOT EXISTS message_templates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    category TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    components TEXT NOT NULL,
    UNIQUE (name, language)
) STRICT;

CREATE TABLE IF NOT EXISTS spans (
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    parent_span_id TEXT NOT NULL,
    service TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    started_nanoseconds INTEGER NOT NULL,
    ended_nanoseconds INTEGER NOT NULL,
    status TEXT NOT NULL,
    attributes TEXT NOT NULL,
    PRIMARY KEY (trace_id, span_id)
) STRICT;
CREATE INDEX IF NOT EXISTS spans_by_start ON spans (started_nanoseconds);
