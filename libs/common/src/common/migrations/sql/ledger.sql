-- The ledger is append-only, balanced and written by `ledger_post` only.

CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: history is answered by a new transaction, never edited'
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER ledger_transactions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transactions
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

-- Statement-level, over the new rows: one check for all entries of a posting, without those of other transactions.
CREATE FUNCTION ledger_refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM added GROUP BY transaction_id HAVING sum(amount_minor) <> 0 OR count(*) < 2) THEN
        RAISE EXCEPTION 'a ledger transaction must sum to zero' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_unbalanced();

-- No CHECK: PostgreSQL would test it on the row proposed by INSERT ... ON CONFLICT, which holds only the change.
CREATE FUNCTION ledger_refuse_overdraft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'account % would fall below zero', NEW.account
        USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_balances_never_negative';
END $$;

CREATE TRIGGER ledger_balances_never_negative AFTER INSERT OR UPDATE ON ledger_balances
    FOR EACH ROW WHEN (NEW.balance_minor < 0) EXECUTE FUNCTION ledger_refuse_overdraft();

CREATE TRIGGER ledger_links_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_links
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

INSERT INTO ledger_chain DEFAULT VALUES;

-- The only way to post: neither role of the service may write the three tables. One round trip for header, balances
-- and entries. `ON CONFLICT DO NOTHING` waits for a concurrent posting with the same key, so that exactly one is
-- written. Balances are locked in the order of their names, so that postings do not deadlock.
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
END $$;

REVOKE EXECUTE ON FUNCTION ledger_post FROM public;
GRANT EXECUTE ON FUNCTION ledger_post TO campus_{service}_api, campus_{service}_service;

REVOKE INSERT, UPDATE, DELETE ON ledger_transactions, ledger_entries, ledger_balances FROM campus_{service}_service;
REVOKE UPDATE, DELETE ON ledger_accounts, ledger_links FROM campus_{service}_service;
REVOKE INSERT, DELETE ON ledger_chain FROM campus_{service}_service;
REVOKE INSERT, UPDATE ON ledger_unsealed FROM campus_{service}_service;

GRANT SELECT ON ledger_transactions, ledger_entries, ledger_balances, ledger_accounts TO campus_{service}_api;
ALTER TABLE ledger_transactions ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger_balances ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger_accounts ENABLE ROW LEVEL SECURITY;
