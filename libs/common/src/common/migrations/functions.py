"""SQL shared by the first migrations of all services. A function with a version in its name never changes after a release."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from alembic import op


def grant_roles_v1(service: str) -> None:
    """Grants both roles of the service the schema. Migrations grant the API role each table separately."""
    op.execute(f"GRANT USAGE ON SCHEMA public TO campus_{service}_api, campus_{service}_service")
    op.execute(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public "
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO campus_{service}_service"
    )
    op.execute(
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO campus_{service}_service, campus_{service}_api"
    )
    for statement in _CALLER_FUNCTIONS_V1:
        op.execute(statement)


def grant_api_v1(service: str, table: str, privileges: str) -> None:
    """Grants the API role `privileges` on a table and puts the table under row security. Policies follow in the migration."""
    op.execute(f"GRANT {privileges} ON {table} TO campus_{service}_api")
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


def create_messaging_v1(service: str) -> None:
    """Outbox, inbox and stored dead letters."""
    for statement in _MESSAGING_V1:
        op.execute(statement)
    # A caller's transaction inserts events; it never reads or changes those of others.
    op.execute(f"GRANT INSERT ON outbox TO campus_{service}_api")
    op.execute(f"GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_{service}_api")


def create_dead_letter_closures_v1(service: str) -> None:
    """Dead letters are closed without a replay. The trail of closures outlives their dead letters and never changes."""
    for statement in _CLOSURES_V1:
        op.execute(statement)
    op.execute(f"REVOKE UPDATE, DELETE ON dead_letter_closures FROM campus_{service}_service")


def drop_dead_letter_closures_v1() -> None:
    """Undo `create_dead_letter_closures_v1`; closed dead letters are open again."""
    op.execute("DROP TABLE dead_letter_closures")
    op.execute("ALTER TABLE dead_letters DROP COLUMN resolved_at, DROP COLUMN closed_at")


def create_idempotent_commands_v1(service: str) -> None:
    """Create the idempotency keys of commands that act as the service; its API role has no access. Keys never change."""
    op.execute(
        """
        CREATE TABLE idempotent_commands (
            user_id uuid NOT NULL,
            idempotency_key uuid NOT NULL,
            fingerprint bytea NOT NULL,
            resource_id uuid NOT NULL,
            recorded_at timestamptz NOT NULL DEFAULT now(),
            CONSTRAINT idempotent_commands_pkey PRIMARY KEY (user_id, idempotency_key)
        )
        """
    )
    op.execute(f"REVOKE UPDATE, DELETE ON idempotent_commands FROM campus_{service}_service")


def number_rows_v1(service: str, table: str, kind: str, prefix: str) -> None:
    """Give each row of a table a number for people: `prefix`, `-` and eight characters of Crockford's base 32.

    The default draws it, also for rows that the version before inserts. A number in use is drawn again; the unique index
    decides between concurrent draws. The function has the owner's rights, because a caller sees no numbers of others.
    Where the table is large, create the index with CONCURRENTLY before the release: then this finds it.
    """
    op.execute(f"ALTER TABLE {table} ADD COLUMN number text")
    op.execute(f"CREATE UNIQUE INDEX IF NOT EXISTS {table}_number_once ON {table} (number)")
    op.execute(
        f"""
        CREATE FUNCTION new_{kind}_number() RETURNS text
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
        DECLARE drawn bytea; symbols text;
        BEGIN
            LOOP
                drawn := uuid_send(gen_random_uuid());
                -- Bytes 6 and 8 of a random UUID hold its version and its variant.
                SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(drawn, place) % 32 + 1, 1), '')
                INTO symbols FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 9, 10]) AS place;
                symbols := '{prefix}-' || substr(symbols, 1, 4) || '-' || substr(symbols, 5);
                EXIT WHEN NOT EXISTS (SELECT FROM {table} WHERE number = symbols);
            END LOOP;
            RETURN symbols;
        END $$
        """
    )
    op.execute(f"REVOKE EXECUTE ON FUNCTION new_{kind}_number FROM public")
    op.execute(f"GRANT EXECUTE ON FUNCTION new_{kind}_number TO campus_{service}_api, campus_{service}_service")
    op.execute(f"ALTER TABLE {table} ALTER COLUMN number SET DEFAULT new_{kind}_number()")
    op.execute(f"UPDATE {table} AS unnumbered SET number = new_{kind}_number() WHERE number IS NULL")
    form = f"^{prefix}(-[0-9A-HJKMNP-TV-Z]{{4}}){{2}}$"
    op.execute(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_number_form CHECK (number IS NOT NULL AND number ~ '{form}') NOT VALID"
    )
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {table}_number_form")


def create_ledger_v1(service: str) -> None:
    """Create the double-entry ledger, its hash chain and its list of accounts. Its triggers only reject changes."""
    for statement in _LEDGER_V1:
        op.execute(statement)
    op.execute(f"GRANT EXECUTE ON FUNCTION ledger_post TO campus_{service}_api, campus_{service}_service")
    for privileges, table in (
        ("INSERT, UPDATE, DELETE", "ledger_transactions"),
        ("INSERT, UPDATE, DELETE", "ledger_entries"),
        ("INSERT, UPDATE, DELETE", "ledger_balances"),
        ("UPDATE, DELETE", "ledger_accounts"),
        ("UPDATE, DELETE", "ledger_links"),
        ("INSERT, DELETE", "ledger_chain"),
        ("INSERT, UPDATE", "ledger_unsealed"),
    ):
        op.execute(f"REVOKE {privileges} ON {table} FROM campus_{service}_service")
    for table in ("ledger_transactions", "ledger_entries", "ledger_balances", "ledger_accounts"):
        grant_api_v1(service, table, "SELECT")


def execute_file(path: Path) -> None:
    """Execute the statements of an SQL file. A statement ends with a semicolon at the end of a line, outside `$$`."""
    for statement in _statements_of(path.read_text(encoding="utf-8")):
        op.execute(statement)


def _statements_of(sql: str) -> Iterator[str]:
    start = 0
    for end in _STATEMENT_END.finditer(sql):
        statement = sql[start : end.start()]
        if statement.count("$$") % 2 == 0:
            yield statement
            start = end.end()


_STATEMENT_END: Final = re.compile(r";\n")

# The functions that row policies call (contract section 5). Plain SQL, which the planner can inline.
_CALLER_FUNCTIONS_V1: Final = (
    "CREATE FUNCTION app_user_id() RETURNS uuid STABLE LANGUAGE sql AS $$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $$",
    "CREATE FUNCTION app_vendor_id() RETURNS uuid STABLE LANGUAGE sql AS "
    "$$ SELECT nullif(current_setting('app.vendor_id', true), '')::uuid $$",
    "CREATE FUNCTION app_campus_id() RETURNS uuid STABLE LANGUAGE sql AS "
    "$$ SELECT nullif(current_setting('app.campus_id', true), '')::uuid $$",
    "CREATE FUNCTION app_may(permission text) RETURNS boolean STABLE LANGUAGE sql AS "
    "$$ SELECT permission = ANY (string_to_array(current_setting('app.permissions', true), ',')) $$",
)

_MESSAGING_V1: Final = (
    """
    CREATE TABLE outbox (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id uuid NOT NULL,
        queue text,
        type text NOT NULL,
        source text NOT NULL,
        subject text NOT NULL,
        sequence bigint NOT NULL,
        payload bytea NOT NULL,
        trace jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        next_attempt_at timestamptz NOT NULL DEFAULT now(),
        published_at timestamptz
    )
    """,
    "CREATE INDEX outbox_waiting ON outbox (position) WHERE published_at IS NULL",
    "CREATE INDEX outbox_published ON outbox (published_at) WHERE published_at IS NOT NULL",
    "CREATE TABLE outbox_sequences (subject text PRIMARY KEY, last bigint NOT NULL)",
    """
    CREATE TABLE inbox (
        event_id uuid NOT NULL,
        consumer text NOT NULL,
        handled_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
    )
    """,
    "CREATE INDEX inbox_handled ON inbox (handled_at)",
    """
    CREATE TABLE dead_letters (
        id uuid PRIMARY KEY,
        queue text NOT NULL,
        event_id uuid,
        event_type text NOT NULL,
        body bytea NOT NULL,
        headers jsonb NOT NULL,
        error text NOT NULL,
        attempts integer NOT NULL,
        failed_at timestamptz NOT NULL DEFAULT now(),
        replayed_at timestamptz
    )
    """,
    "CREATE INDEX dead_letters_newest ON dead_letters (failed_at DESC, id DESC)",
    """
    CREATE TABLE session_revocations (
        user_id uuid NOT NULL,
        session_id uuid,
        not_before timestamptz NOT NULL,
        heard_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX session_revocations_heard ON session_revocations (heard_at)",
)

_CLOSURES_V1: Final = (
    # Resolved by a replay or by a closure. The table has few rows, so that its rewrite is short.
    """
    ALTER TABLE dead_letters ADD COLUMN closed_at timestamptz,
        ADD COLUMN resolved_at timestamptz GENERATED ALWAYS AS (coalesce(replayed_at, closed_at)) STORED,
        ADD CONSTRAINT dead_letters_resolved_once CHECK (num_nulls(replayed_at, closed_at) > 0) NOT VALID
    """,
    "ALTER TABLE dead_letters VALIDATE CONSTRAINT dead_letters_resolved_once",
    """
    CREATE TABLE dead_letter_closures (
        dead_letter_id uuid PRIMARY KEY,
        queue text NOT NULL,
        event_type text NOT NULL,
        closed_by uuid NOT NULL,
        reason text NOT NULL,
        closed_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX dead_letter_closures_of_staff ON dead_letter_closures (closed_by, closed_at)",
)

_LEDGER_V1: Final = (
    """
    CREATE TABLE ledger_transactions (
        id uuid PRIMARY KEY,
        position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
        type text NOT NULL,
        posting_key text NOT NULL,
        currency char(3) NOT NULL,
        content_hash bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT ledger_transactions_posting_key_once UNIQUE (posting_key)
    )
    """,
    "CREATE INDEX ledger_transactions_newest ON ledger_transactions (created_at DESC, id DESC)",
    """
    CREATE TABLE ledger_entries (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        transaction_id uuid NOT NULL,
        account text NOT NULL,
        amount_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        CONSTRAINT ledger_entries_transaction FOREIGN KEY (transaction_id) REFERENCES ledger_transactions (id),
        CONSTRAINT ledger_entries_say_something CHECK (amount_minor <> 0)
    )
    """,
    "CREATE INDEX ledger_entries_of_transaction ON ledger_entries (transaction_id)",
    "CREATE INDEX ledger_entries_of_account ON ledger_entries (account) INCLUDE (amount_minor)",
    """
    CREATE TABLE ledger_balances (
        account text PRIMARY KEY,
        currency char(3) NOT NULL,
        side text NOT NULL,
        balance_minor bigint NOT NULL,
        CONSTRAINT ledger_balances_side_known CHECK (side IN ('debit', 'credit'))
    )
    """,
    """
    CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the ledger is append-only: history is answered by a new transaction, never edited'
            USING ERRCODE = 'restrict_violation';
    END $$
    """,
    "CREATE TRIGGER ledger_transactions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transactions "
    "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change()",
    "CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries "
    "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change()",
    # Statement-level, over the new rows: one check for all entries of a posting, without those of other transactions.
    """
    CREATE FUNCTION ledger_refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM added GROUP BY transaction_id HAVING sum(amount_minor) <> 0 OR count(*) < 2) THEN
            RAISE EXCEPTION 'a ledger transaction must sum to zero' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NULL;
    END $$
    """,
    "CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added "
    "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_unbalanced()",
    # No CHECK: PostgreSQL would test it on the row proposed by INSERT ... ON CONFLICT, which holds only the change.
    """
    CREATE FUNCTION ledger_refuse_overdraft() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'account % would fall below zero', NEW.account
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_balances_never_negative';
    END $$
    """,
    "CREATE TRIGGER ledger_balances_never_negative AFTER INSERT OR UPDATE ON ledger_balances "
    "FOR EACH ROW WHEN (NEW.balance_minor < 0) EXECUTE FUNCTION ledger_refuse_overdraft()",
    # Postings without a link. A set, not a watermark, so that a posting that commits late is never skipped.
    """
    CREATE TABLE ledger_unsealed (
        position bigint PRIMARY KEY,
        transaction_id uuid NOT NULL,
        posted_at timestamptz NOT NULL
    )
    """,
    """
    CREATE TABLE ledger_links (
        sequence bigint PRIMARY KEY,
        transaction_id uuid NOT NULL,
        link bytea NOT NULL,
        sealed_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT ledger_links_transaction_once UNIQUE (transaction_id)
    )
    """,
    "CREATE TRIGGER ledger_links_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_links "
    "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change()",
    # The end of the chain, in a single row whose lock makes one of several workers extend the chain.
    """
    CREATE TABLE ledger_chain (
        the_only boolean PRIMARY KEY DEFAULT true,
        length bigint NOT NULL DEFAULT 0,
        head bytea NOT NULL DEFAULT sha256(''),
        verify_at timestamptz,
        CONSTRAINT ledger_chain_is_one CHECK (the_only)
    )
    """,
    "INSERT INTO ledger_chain DEFAULT VALUES",
    # Every account since its first entry, so that a list of accounts need not group all entries.
    """
    CREATE TABLE ledger_accounts (
        account text PRIMARY KEY,
        position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
        currency char(3) NOT NULL,
        opened_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX ledger_accounts_in_order ON ledger_accounts (position)",
    "CREATE INDEX ledger_accounts_by_prefix ON ledger_accounts (account text_pattern_ops)",
    # The only way to post: neither role of the service may write the three tables. One round trip for header, balances
    # and entries. `ON CONFLICT DO NOTHING` waits for a concurrent posting with the same key, so that exactly one is
    # written. Balances are locked in the order of their names, so that postings do not deadlock.
    """
    CREATE FUNCTION ledger_post(
        new_id uuid, new_type text, new_key text, new_currency text, new_hash bytea,
        accounts text[], sides text[], guards boolean[], amounts_minor bigint[]
    ) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DECLARE standing_hash bytea; touched bigint; new_position bigint;
    BEGIN
        INSERT INTO ledger_transactions (id, type, posting_key, currency, content_hash)
        VALUES (new_id, new_type, new_key, new_currency, new_hash)
        ON CONFLICT (posting_key) DO NOTHING
        RETURNING position INTO new_position;
        IF NOT FOUND THEN
            SELECT content_hash INTO standing_hash FROM ledger_transactions WHERE posting_key = new_key;
            IF standing_hash IS DISTINCT FROM new_hash THEN
                RAISE EXCEPTION 'posting key % stands with other content', new_key
                    USING ERRCODE = 'unique_violation', CONSTRAINT = 'ledger_transactions_posting_key_once';
            END IF;
            RETURN false;
        END IF;
        INSERT INTO ledger_balances AS b (account, currency, side, balance_minor)
        SELECT line.account, new_currency, line.side, CASE line.side WHEN 'debit' THEN line.amount_minor ELSE -line.amount_minor END
        FROM unnest(accounts, sides, guards, amounts_minor) AS line (account, side, guarded, amount_minor)
        WHERE line.guarded ORDER BY line.account
        ON CONFLICT (account) DO UPDATE SET balance_minor = b.balance_minor + excluded.balance_minor
        WHERE b.currency = excluded.currency AND b.side = excluded.side;
        GET DIAGNOSTICS touched = ROW_COUNT;
        IF touched <> (SELECT count(*) FROM unnest(guards) AS guarded WHERE guarded) THEN
            RAISE EXCEPTION 'an account keeps its currency and its side' USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        INSERT INTO ledger_entries (transaction_id, account, amount_minor, currency)
        SELECT new_id, line.account, line.amount_minor, new_currency
        FROM unnest(accounts, amounts_minor) AS line (account, amount_minor);
        -- Only an account's first posting writes here. A guarded one is ours alone, by the lock of its balance; for another one
        -- that somebody else is opening at this moment nobody waits: the sealing catches up. Asked one by one, so that the plan
        -- is a look into the index whatever the size of the table was when it was made.
        FOR number IN 1 .. cardinality(accounts) LOOP
            IF NOT EXISTS (SELECT FROM ledger_accounts known WHERE known.account = accounts[number])
                AND (guards[number] OR pg_try_advisory_xact_lock(hashtextextended(accounts[number], 0)))
            THEN
                INSERT INTO ledger_accounts (account, currency, opened_at) VALUES (accounts[number], new_currency, now())
                ON CONFLICT (account) DO NOTHING;
            END IF;
        END LOOP;
        INSERT INTO ledger_unsealed (position, transaction_id, posted_at) VALUES (new_position, new_id, now());
        RETURN true;
    END $$
    """,
    "REVOKE EXECUTE ON FUNCTION ledger_post FROM public",
)
