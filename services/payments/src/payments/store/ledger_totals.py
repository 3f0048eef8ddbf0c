"""The sums of the ledger by day, kind of account and currency, of which trial balances consist (decision 217)."""

from typing import Final

from common.database.unit_of_work import UnitOfWork

# Some seconds of work for the first totals of a large ledger; a minute of postings is far below it.
LINKS_PER_BATCH: Final = 20_000

# The lock of the chain: one worker adds, and no link is added meanwhile. Nothing is locked when all are included.
_CLAIM: Final = f"""
SELECT total.sequence AS after, least(chain.length, total.sequence + {LINKS_PER_BATCH}) AS until
FROM ledger_chain AS chain, (SELECT coalesce(max(sequence), 0) AS sequence FROM ledger_totals) AS total
WHERE chain.length > total.sequence FOR UPDATE OF chain SKIP LOCKED
"""
# The first entry of an account is found by its index: the oldest entries of a busy account are included already.
SUMS: Final = """
summed AS (
    SELECT kind, currency, day, coalesce(sum(amount_minor) FILTER (WHERE amount_minor > 0), 0)::bigint AS debit_minor,
        coalesce(-sum(amount_minor) FILTER (WHERE amount_minor < 0), 0)::bigint AS credit_minor
    FROM lines GROUP BY 1, 2, 3
),
opened AS (
    SELECT kind, currency, day, count(*) AS accounts FROM (
        SELECT account, kind, currency, min(day) AS day FROM lines GROUP BY 1, 2, 3
    ) AS named
    WHERE (
        SELECT link.sequence FROM ledger_entries AS entry
        JOIN ledger_links AS link ON link.transaction_id = entry.transaction_id
        JOIN ledger_transactions AS transaction ON transaction.id = entry.transaction_id
        WHERE entry.account = named.account AND link.sequence <= {included} AND transaction.created_at < {before}
        LIMIT 1
    ) IS NULL
    GROUP BY 1, 2, 3
)
"""
_ADD: Final = f"""
WITH lines AS MATERIALIZED (
    SELECT entry.account, split_part(entry.account, ':', 1) AS kind, transaction.currency, entry.amount_minor,
        (transaction.created_at AT TIME ZONE 'UTC')::date AS day
    FROM ledger_links AS link JOIN ledger_transactions AS transaction ON transaction.id = link.transaction_id
    JOIN ledger_entries AS entry ON entry.transaction_id = link.transaction_id
    WHERE link.sequence > $1 AND link.sequence <= $2
),
{SUMS.format(included="$1", before="'infinity'")}
INSERT INTO ledger_totals AS total (day, kind, currency, accounts, debit_minor, credit_minor, sequence)
SELECT day, kind, currency, coalesce(accounts, 0), debit_minor, credit_minor, $2
FROM summed LEFT JOIN opened USING (kind, currency, day)
ON CONFLICT (day, kind, currency) DO UPDATE SET accounts = total.accounts + excluded.accounts,
    debit_minor = total.debit_minor + excluded.debit_minor, credit_minor = total.credit_minor + excluded.credit_minor,
    sequence = excluded.sequence
"""


async def add_ledger_totals(uow: UnitOfWork) -> int:
    """Add a batch of links to the totals of their days; returns how many links, 0 when all are included or another
    worker adds.
    """
    claimed = await uow.fetch_row(_CLAIM)
    if claimed is None:
        return 0
    await uow.execute(_ADD, claimed["after"], claimed["until"])
    return int(claimed["until"] - claimed["after"])
