-- Rules inside one database: the services, a sentence, and a query that returns the rows that break it.
-- Such a row is `broken`, or of the kind in brackets. It is `open` where the query behind `undecided` returns its first
-- column: staff must decide.

-- payments, payouts: every transaction sums to zero
SELECT transaction_id, sum(amount_minor)::text AS sum_minor FROM ledger_entries
GROUP BY transaction_id HAVING sum(amount_minor) <> 0 OR count(*) < 2;

-- payments, payouts: every transaction has its entries, in its currency
SELECT t.id, t.posting_key FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
GROUP BY t.id HAVING count(e.position) = 0 OR bool_or(e.currency <> t.currency);

-- payments, payouts: every running balance equals its entries and is not below zero
SELECT b.account, b.balance_minor, e.sum_minor::text FROM ledger_balances b
LEFT JOIN (SELECT account, sum(amount_minor) AS sum_minor FROM ledger_entries GROUP BY account) e USING (account)
WHERE b.balance_minor < 0 OR b.balance_minor <>
CASE b.side WHEN 'debit' THEN coalesce(e.sum_minor, 0) ELSE -coalesce(e.sum_minor, 0) END;

-- payments, payouts: every account with entries is in the register of accounts, in its currency
SELECT DISTINCT e.account, e.currency FROM ledger_entries e LEFT JOIN ledger_accounts a ON a.account = e.account
WHERE a.account IS NULL OR a.currency <> e.currency;

-- payments: the totals of the ledger by day equal the entries that they include
SELECT total.day, kind, currency, total.debit_minor, entries.debit_minor AS entries_debit_minor, total.credit_minor,
    entries.credit_minor AS entries_credit_minor
FROM ledger_totals AS total FULL JOIN (
    SELECT (t.created_at AT TIME ZONE 'UTC')::date AS day, split_part(e.account, ':', 1) AS kind, t.currency,
        coalesce(sum(e.amount_minor) FILTER (WHERE e.amount_minor > 0), 0) AS debit_minor,
        coalesce(-sum(e.amount_minor) FILTER (WHERE e.amount_minor < 0), 0) AS credit_minor
    FROM ledger_links AS l JOIN ledger_transactions AS t ON t.id = l.transaction_id
    JOIN ledger_entries AS e ON e.transaction_id = t.id
    WHERE l.sequence <= (SELECT coalesce(max(sequence), 0) FROM ledger_totals) GROUP BY 1, 2, 3
) AS entries USING (day, kind, currency)
WHERE (total.debit_minor, total.credit_minor) IS DISTINCT FROM (entries.debit_minor, entries.credit_minor);

-- payments (open): no reconciliation case is open
SELECT id, kind, subject, unexplained_minor FROM reconciliation_cases WHERE status = 'open';

-- payments: escrow in the ledger equals what each order has unreleased
SELECT e.order_id, locked.minor AS locked_minor, b.balance_minor FROM escrows e
CROSS JOIN LATERAL (SELECT e.locked_vendor_minor + e.locked_commission_minor + e.locked_delivery_fee_minor) AS
    locked (minor)
LEFT JOIN ledger_balances b ON b.account = 'escrow:' || e.order_id
WHERE b.balance_minor IS DISTINCT FROM locked.minor;

-- payments: no escrow account has a balance without its order
SELECT b.account, b.balance_minor FROM ledger_balances b WHERE b.account LIKE 'escrow:%' AND b.balance_minor <> 0
AND NOT EXISTS (SELECT FROM escrows e WHERE 'escrow:' || e.order_id = b.account);

-- payments: the payable refunds in the ledger equal the unsettled refunds
SELECT r.id, r.status, r.amount_minor, b.balance_minor FROM refunds r
LEFT JOIN ledger_balances b ON b.account = 'refund_payable:' || r.id
WHERE coalesce(b.balance_minor, 0) <> CASE WHEN r.status = 'settled' OR (r.kind, r.status) = ('outside', 'failed')
THEN 0 ELSE r.amount_minor END;

-- payments: the quarantine in the ledger equals the undecided charges
SELECT q.account, q.waiting_minor::text, b.balance_minor FROM (
SELECT 'quarantine:' || reference || CASE currency WHEN 'NGN' THEN '' ELSE ':' || currency END AS account,
sum(amount_minor) FILTER (WHERE status IN ('quarantined', 'prepared')) AS waiting_minor
FROM quarantined_charges GROUP BY 1) q LEFT JOIN ledger_balances b USING (account)
WHERE coalesce(b.balance_minor, 0) <> coalesce(q.waiting_minor, 0);

-- payments: no payable refund and no quarantine has a balance without its row
SELECT b.account, b.balance_minor FROM ledger_balances b WHERE b.balance_minor <> 0 AND ((b.account LIKE
    'refund_payable:%'
AND NOT EXISTS (SELECT FROM refunds r WHERE 'refund_payable:' || r.id = b.account)) OR (b.account LIKE 'quarantine:%'
AND NOT EXISTS (SELECT FROM quarantined_charges q WHERE b.account IN ('quarantine:' || q.reference,
'quarantine:' || q.reference || ':' || q.currency))));

-- payments: every quarantine decision has two deciders, and only an approved one moves the money
SELECT q.id, q.status, d.prepared_by, d.decided_by FROM quarantined_charges q
LEFT JOIN quarantine_decisions d ON d.quarantined_charge_id = q.id AND d.status = 'approved'
WHERE (q.status IN ('accepted', 'returned')) <> (d.id IS NOT NULL) OR d.decided_by = d.prepared_by;

-- payments: every settled charge is posted once
SELECT c.id, c.reference, c.verdict FROM charges c WHERE (SELECT count(*) FROM ledger_transactions t
JOIN ledger_entries e ON e.transaction_id = t.id WHERE t.type IN ('charge', 'overpayment', 'quarantine')
AND e.account LIKE 'gateway_cash%' AND e.amount_minor = c.amount_minor AND t.posting_key =
ANY (ARRAY['charge:' || c.identity, 'overpayment:' || c.identity, 'quarantine:' || c.identity])) <> 1;

-- payments: every posted surcharge is its charge's, and within the bound at the time of the charge
SELECT coalesce(t.posting_key, 'charge:' || c.identity) AS posting, -e.amount_minor AS ledger_minor,
c.surcharge_minor, c.surcharge_max_minor FROM charges c
FULL JOIN (ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id AND e.account = 'charge_surcharge')
ON t.posting_key = 'charge:' || c.identity WHERE (c.id IS NULL OR c.surcharge_minor IS NOT NULL)
AND (-coalesce(e.amount_minor, 0) <> coalesce(c.surcharge_minor, 0) OR c.surcharge_minor > c.surcharge_max_minor);

-- payments: every lost chargeback debits its whole amount, and stays posted until it is won
SELECT b.id, b.status, b.amount_minor, parts.minor AS taken_minor FROM chargebacks b CROSS JOIN LATERAL (SELECT
b.locked_vendor_minor + b.locked_commission_minor + b.locked_delivery_fee_minor + b.released_vendor_minor +
b.released_commission_minor + b.released_delivery_fee_minor + b.loss_minor + coalesce((SELECT sum(r.amount_minor)
FROM chargeback_refunds r WHERE r.chargeback_id = b.id), 0)) AS parts (minor) LEFT JOIN (SELECT
    split_part(posting_key,
':', 2) AS id, sum(CASE WHEN type IN ('chargeback', 'outside_refund') THEN 1 ELSE -1 END) AS losses FROM
ledger_transactions WHERE type IN ('chargeback', 'chargeback_won', 'outside_refund', 'outside_refund_returned')
GROUP BY 1) AS posted ON posted.id = b.id::text
WHERE parts.minor <> CASE b.status WHEN 'lost' THEN b.amount_minor ELSE 0 END
OR coalesce(posted.losses, 0) <> CASE WHEN b.status = 'lost' AND b.amount_minor > 0 THEN 1 ELSE 0 END;

-- payments: the chargeback losses in the ledger equal those of the lost chargebacks
SELECT coalesce(e.id, b.id::text) AS chargeback, e.minor::text AS ledger_minor, b.loss_minor FROM (SELECT split_part(
t.posting_key, ':', 2) AS id, sum(amount_minor) AS minor FROM ledger_entries JOIN ledger_transactions t
ON t.id = transaction_id WHERE account = 'chargeback_loss' OR account LIKE 'chargeback_loss:%' GROUP BY 1) AS e
FULL JOIN chargebacks b ON b.id::text = e.id WHERE coalesce(e.minor, 0) <> coalesce(b.loss_minor, 0);

-- payments: the charged-back amount of an order equals the debits of its lost chargebacks
SELECT e.order_id, e.charged_back_minor, taken.minor AS taken_minor FROM escrows e CROSS JOIN LATERAL (SELECT
    coalesce(sum(
b.locked_vendor_minor + b.locked_commission_minor + b.locked_delivery_fee_minor + b.released_vendor_minor +
b.released_commission_minor + b.released_delivery_fee_minor), 0) FROM chargebacks b WHERE b.order_id = e.order_id)
AS taken (minor) WHERE e.charged_back_minor <> taken.minor;

-- payments: the gateway's fee is posted once for each charge, and not above it
SELECT t.posting_key, e.amount_minor FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
AND e.account LIKE 'gateway_fees%' WHERE t.type = 'gateway_fee' AND NOT EXISTS (SELECT FROM charges c
WHERE t.posting_key = 'gateway_fee:' || c.identity AND e.amount_minor BETWEEN 1 AND c.amount_minor);

-- payments: the fees of refund transfers are in the ledger as the gateway reported them, each beside its attempt
SELECT a.id, a.fee, b.minor::text AS booked_minor FROM (SELECT attempt_id, transfer_fee_minor FROM refunds UNION ALL
SELECT id, transfer_fee_minor FROM failed_refund_attempts UNION ALL
SELECT id, transfer_fee_minor FROM withdrawals) AS a (id, fee) FULL JOIN (SELECT
split_part(t.posting_key, ':', 2) AS attempt_id, sum(e.amount_minor) AS minor FROM ledger_transactions t
JOIN ledger_entries e ON e.transaction_id = t.id WHERE e.account = 'transfer_fees' GROUP BY 1) AS b
ON b.attempt_id = a.id::text WHERE coalesce(a.fee, 0) <> coalesce(b.minor, 0);

-- payments: a settlement moves its amount from the gateway to the bank account, and nothing else does
SELECT t.posting_key, e.account, e.amount_minor FROM ledger_transactions t JOIN ledger_entries e ON
    e.transaction_id = t.id
WHERE CASE t.type WHEN 'settlement' THEN NOT ((e.account LIKE 'bank_account%' AND e.amount_minor > 0) OR
(e.account LIKE 'gateway_cash%' AND e.amount_minor < 0)) ELSE e.account LIKE 'bank_account%' END;

-- payments: the postings to vendors, commission and delivery fees equal the releases of the orders
SELECT account, book.minor::text AS ledger_minor, rows.minor::text AS rows_minor FROM (SELECT account,
    -sum(amount_minor)
AS minor FROM ledger_entries WHERE account LIKE 'vendor_payable:%' OR account IN ('commission', 'delivery_fee')
    GROUP BY 1)
AS book FULL JOIN (SELECT 'vendor_payable:' || vendor_id AS account, sum(released_vendor_minor) AS minor FROM escrows
GROUP BY 1 UNION ALL SELECT 'commission', sum(released_commission_minor) FROM escrows UNION ALL SELECT 'delivery_fee',
sum(released_delivery_fee_minor) FROM escrows) AS rows USING (account)
WHERE coalesce(book.minor, 0) <> coalesce(rows.minor, 0);

-- payments: the held escrow of each order is its total, for its own parties, paid by one charge that asked for it
SELECT e.order_id, e.held_minor, o.total_minor, o.status, c.verdict FROM escrows e JOIN payable_orders o ON o.id =
    e.order_id
LEFT JOIN charges c ON c.id = e.charge_id WHERE e.held_minor <> o.total_minor OR o.status <> 'paid_escrow'
OR (e.buyer_id, e.vendor_id) <> (o.buyer_id, o.vendor_id) OR (e.charge_id IS NULL AND e.balance_minor <> e.held_minor)
OR (e.charge_id IS NOT NULL AND (c.verdict IS DISTINCT FROM 'covered' OR (c.order_id IS DISTINCT FROM e.order_id
AND NOT EXISTS (SELECT FROM payment_references r JOIN intent_orders n ON n.intent_id = r.intent_id
WHERE r.reference = c.reference AND n.order_id = e.order_id))));

-- payments: a paid charge is its escrows, its surplus and its surcharge, kobo for kobo
SELECT c.id, c.amount_minor, parts.escrow_minor::text, parts.other_minor::text FROM charges c CROSS JOIN LATERAL (SELECT
coalesce((SELECT sum(e.held_minor - e.balance_minor) FROM escrows e WHERE e.charge_id = c.id), 0), coalesce((SELECT -sum(e.amount_minor)
FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
WHERE t.posting_key IN ('charge:' || c.identity, 'quarantine_release:' || c.identity)
AND (e.account LIKE 'refund_payable:%' OR e.account = 'charge_surcharge')), 0)) AS parts (escrow_minor, other_minor)
WHERE c.verdict = 'covered' AND c.amount_minor <> parts.escrow_minor + parts.other_minor;

-- payments: no charge returns more than it took, beside the losses of its chargebacks
SELECT c.id, c.amount_minor, returned.minor::text AS returned_minor FROM charges c CROSS JOIN LATERAL (SELECT
coalesce((SELECT sum(-e.amount_minor) FROM refunds r JOIN ledger_transactions t ON t.posting_key IN
('refund_settled:' || r.attempt_id, 'refund_reversed:' || r.attempt_id) JOIN ledger_entries e
ON e.transaction_id = t.id AND e.account LIKE 'gateway_cash%' WHERE r.charge_id = c.id), 0)
+ coalesce((SELECT sum(b.amount_minor - b.loss_minor) FROM chargebacks b WHERE b.charge_id = c.id AND b.status = 'lost'
AND b.identity NOT LIKE 'outside:%'), 0)
- coalesce((SELECT sum(b.loss_minor) FROM chargebacks b WHERE b.charge_id = c.id AND b.status = 'lost'
AND b.identity LIKE 'outside:%'), 0)) AS returned (minor) WHERE returned.minor > c.amount_minor;

-- payments: every release of an order is posted, and every posted release has its row
SELECT coalesce('release:' || r.id, t.posting_key) AS release, r.gross_minor, t.minor AS ledger_minor FROM releases
    r FULL JOIN
(SELECT t.posting_key, e.account, e.amount_minor AS minor FROM ledger_transactions t JOIN ledger_entries e
ON e.transaction_id = t.id AND e.account LIKE 'escrow:%' WHERE t.type = 'release') AS t
ON t.posting_key = 'release:' || r.id AND t.account = 'escrow:' || r.order_id
WHERE coalesce(r.gross_minor, 0) <> coalesce(t.minor, 0);

-- payments: every referral is rewarded once
SELECT t.posting_key, e.account, e.amount_minor FROM ledger_entries e JOIN ledger_transactions t ON t.id =
    e.transaction_id
WHERE t.type = 'referral_reward' AND e.account <> 'referral_expense'
AND t.posting_key <> 'referral_reward:' || split_part(e.account, ':', 2);

-- payments: each buyer's balance in the ledger is its rewards and refunds
SELECT coalesce(account, b.user_id::text) AS buyer, l.balance_minor, b.rewards_minor, b.refunds_minor FROM (SELECT account,
balance_minor FROM ledger_balances WHERE account LIKE 'buyer_balance:%') AS l FULL JOIN buyer_balances b
ON l.account = 'buyer_balance:' || b.user_id
WHERE coalesce(l.balance_minor, 0) <> coalesce(b.rewards_minor + b.refunds_minor, 0);

-- payments: every line of a buyer's balance continues the one before it, and the last one is the balance
SELECT user_id, id, kind, amount_minor, balance_minor, before_minor FROM (SELECT l.*, b.line_count,
b.rewards_minor + b.refunds_minor AS last_minor, coalesce(lag(l.balance_minor) OVER lines, 0) AS before_minor,
coalesce(lag(l.sequence) OVER lines, 0) AS before FROM balance_lines l JOIN buyer_balances b ON b.user_id = l.user_id
WINDOW lines AS (PARTITION BY l.user_id ORDER BY l.sequence)) AS l WHERE balance_minor <> before_minor + amount_minor
OR sequence <> before + 1 OR (sequence = line_count AND balance_minor <> last_minor) OR sequence > line_count;

-- payments: the money held for payments equals the holds of live payments, and each balance's held amount
SELECT h.intent_id, h.status, h.amount_minor, l.balance_minor, i.status AS payment FROM balance_holds h
JOIN payment_intents i ON i.id = h.intent_id
LEFT JOIN ledger_balances l ON l.account = 'balance_held:' || h.intent_id
WHERE coalesce(l.balance_minor, 0) <> CASE h.status WHEN 'held' THEN h.amount_minor ELSE 0 END
OR (h.status = 'held' AND i.status NOT IN ('opening', 'pending'))
OR (SELECT b.held_minor FROM buyer_balances b WHERE b.user_id = h.user_id)
<> (SELECT coalesce(sum(o.amount_minor), 0) FROM balance_holds o WHERE o.user_id = h.user_id AND o.status = 'held');

-- payments: each order has from the balance what its payment spent, and returns to it what its refunds credited
SELECT e.order_id, e.balance_minor, spent.minor::text AS spent_minor, e.balance_refunded_minor,
credited.minor::text AS credited_minor FROM escrows e CROSS JOIN LATERAL (SELECT coalesce(-sum(l.amount_minor), 0)
FROM ledger_entries l JOIN ledger_transactions t ON t.id = l.transaction_id AND t.type = 'balance_spent'
WHERE l.account = 'escrow:' || e.order_id) AS spent (minor) CROSS JOIN LATERAL (SELECT coalesce(sum(r.balance_minor), 0)
FROM refunds r WHERE r.order_id = e.order_id) AS credited (minor)
WHERE e.balance_minor <> spent.minor OR e.balance_refunded_minor <> credited.minor;

-- payments: every refund to a balance is posted as its row has it
SELECT coalesce(r.id::text, t.posting_key) AS refund, r.balance_minor, -e.amount_minor AS ledger_minor FROM
(ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id AND e.account LIKE 'buyer_balance:%'
AND t.type = 'balance_refund') FULL JOIN refunds r ON t.posting_key = 'balance_refund:' || r.id
WHERE coalesce(r.balance_minor, 0) <> coalesce(-e.amount_minor, 0);

-- payments: goodwill is posted as two people approved it, at the platform's expense
SELECT coalesce(g.id::text, t.posting_key) AS goodwill, g.status, g.amount_minor, t.minor::text AS ledger_minor
FROM goodwill_refunds g FULL JOIN (SELECT t.posting_key, sum(e.amount_minor) AS minor FROM ledger_transactions t
JOIN ledger_entries e ON e.transaction_id = t.id AND e.account = 'goodwill_expense' WHERE t.type = 'goodwill_refund'
GROUP BY 1) AS t ON t.posting_key = 'goodwill_refund:' || g.id
WHERE coalesce(t.minor, 0) <> CASE WHEN g.status = 'approved' AND g.decided_by <> g.prepared_by THEN g.amount_minor
ELSE 0 END;

-- payments: no order received more goodwill than its payment
SELECT e.order_id, e.held_minor, sum(g.amount_minor)::text AS goodwill_minor FROM escrows e
JOIN goodwill_refunds g ON g.order_id = e.order_id AND g.status = 'approved' GROUP BY e.order_id, e.held_minor
HAVING sum(g.amount_minor) > e.held_minor;

-- payments: each withdrawal's money is due, paid or returned, as its row has it
SELECT coalesce(w.id::text, e.account) AS withdrawal, w.status, w.amount_minor, e.payable_minor::text, e.paid_minor::text
FROM withdrawals w FULL JOIN (SELECT split_part(posting_key, ':', 2) AS id, max(account) AS account,
coalesce(-sum(amount_minor) FILTER (WHERE account LIKE 'withdrawal_payable:%'), 0) AS payable_minor,
coalesce(-sum(amount_minor) FILTER (WHERE account = 'gateway_cash'), 0) AS paid_minor
FROM ledger_entries l JOIN ledger_transactions t ON t.id = l.transaction_id WHERE t.type IN ('balance_withdrawal',
'withdrawal_settled', 'withdrawal_returned', 'withdrawal_reversed') GROUP BY 1) AS e ON e.id = w.id::text
WHERE coalesce(e.payable_minor, 0) <> CASE WHEN w.status IN ('paid', 'failed', 'rejected') THEN 0
ELSE coalesce(w.amount_minor, 0) END
OR coalesce(e.paid_minor, 0) <> CASE w.status WHEN 'paid' THEN w.amount_minor ELSE 0 END;

-- payments: the platform bears what a paid withdrawal took beyond its balance, and nothing else of them
SELECT b.account, b.minor::text, w.minor::text AS losses_minor FROM (SELECT 'withdrawal_loss' AS account,
coalesce(sum(amount_minor), 0) AS minor FROM ledger_entries WHERE account = 'withdrawal_loss') AS b CROSS JOIN (
SELECT coalesce(sum(loss_minor), 0) AS minor FROM withdrawals WHERE status = 'paid') AS w WHERE b.minor <> w.minor;

-- payments: a withdrawal that two people decide on is sent only with the approval of a second one
SELECT w.id, w.status FROM withdrawals w WHERE w.status NOT IN ('waiting', 'prepared', 'rejected')
AND EXISTS (SELECT FROM withdrawal_decisions d WHERE d.withdrawal_id = w.id) AND NOT EXISTS (SELECT
FROM withdrawal_decisions d WHERE d.withdrawal_id = w.id AND d.status = 'approved' AND d.outcome = 'pay'
AND d.decided_by <> d.prepared_by);

-- payments: a refund goes to a bank account only with the approval of a second person
SELECT r.id, r.status, r.recipient_code FROM refunds r WHERE r.recipient_code IS NOT NULL AND NOT EXISTS (SELECT
FROM refund_decisions d WHERE d.refund_id = r.id AND d.status = 'approved' AND d.recipient_code = r.recipient_code
AND d.decided_by <> d.prepared_by);

-- payouts: the held amount of each wallet equals its open chargebacks and contradicted transfers
SELECT account, b.balance_minor, c.minor::text AS reasons_minor FROM (SELECT account, balance_minor FROM
    ledger_balances
WHERE account LIKE 'held:%') AS b FULL JOIN (SELECT 'held:' || vendor_id AS account, sum(minor) AS minor FROM (
SELECT vendor_id, held_minor FROM chargebacks UNION ALL SELECT vendor_id, amount FROM transfer_holds WHERE status =
    'held')
AS reasons (vendor_id, minor) GROUP BY 1) AS c USING (account) WHERE coalesce(b.balance_minor, 0) <>
    coalesce(c.minor, 0);

-- payouts: an open chargeback holds what is at stake, as far as the wallet has it
SELECT c.id, c.vendor_id, c.uncovered_minor, b.balance_minor FROM chargebacks c
JOIN ledger_balances b ON b.account = 'wallet:' || c.vendor_id WHERE c.uncovered_minor > 0 AND b.balance_minor > 0;

-- payouts: money that may have been paid twice is held, and waits for two people with an open exception
SELECT p.id, p.status, coalesce(paid.transfers, 0) AS transfers, coalesce(booked.postings, 0) AS postings, held.holds
FROM payout_requests p LEFT JOIN (SELECT payout_id, count(*) AS transfers FROM payout_transfers
WHERE status = 'success' GROUP BY 1) AS paid ON paid.payout_id = p.id LEFT JOIN (SELECT payout_id, sum(times) AS
    postings
FROM (SELECT split_part(posting_key, ':', 2) AS payout_id, CASE type WHEN 'reversal' THEN -1 ELSE 1 END AS times
FROM ledger_transactions WHERE type IN ('payout_processed', 'reversal') UNION ALL
SELECT a.payout_id::text, CASE t.type WHEN 'recovery_returned' THEN -1 ELSE 1 END FROM ledger_transactions t
JOIN payout_transfers a ON a.id::text = split_part(t.posting_key, ':', 2)
WHERE t.type IN ('recovery', 'recovery_returned')) AS postings GROUP BY 1) AS booked ON booked.payout_id = p.id::text
CROSS JOIN LATERAL (SELECT count(*) AS holds FROM transfer_holds h WHERE h.payout_id = p.id AND h.status = 'held')
    AS held
WHERE coalesce(paid.transfers, 0) > coalesce(booked.postings, 0) + held.holds OR (held.holds > 0 AND NOT EXISTS
(SELECT FROM payout_exceptions e WHERE e.payout_id = p.id AND e.status = 'open'));

-- payouts: no money is in transit without a payout, or in a wallet without a statement line
SELECT b.account, b.balance_minor FROM ledger_balances b WHERE b.balance_minor <> 0 AND ((b.account LIKE
    'in_transit:%'
AND NOT EXISTS (SELECT FROM payout_requests p WHERE 'in_transit:' || p.id = b.account)) OR (b.account LIKE 'wallet:%'
AND NOT EXISTS (SELECT FROM wallet_lines l WHERE 'wallet:' || l.vendor_id = b.account)));

-- payouts: a vendor's debt equals the unpaid advances of the statement, and a vendor with debt has an empty wallet
SELECT d.account, d.balance_minor, d.lines_minor::text, w.balance_minor AS wallet_minor FROM (SELECT account,
    balance_minor,
minor AS lines_minor FROM (SELECT account, balance_minor FROM ledger_balances WHERE account LIKE 'vendor_debt:%') AS b
FULL JOIN (SELECT 'vendor_debt:' || vendor_id AS account, sum(net_minor) AS minor FROM wallet_lines
WHERE kind IN ('debt_taken', 'debt_repaid') GROUP BY 1) AS l USING (account)) AS d
LEFT JOIN ledger_balances w ON w.account = replace(d.account, 'vendor_debt:', 'wallet:')
WHERE coalesce(d.balance_minor, 0) <> coalesce(d.lines_minor, 0) OR (d.balance_minor > 0 AND w.balance_minor > 0);

-- payouts: money in transit equals the payouts that wait for the bank
SELECT p.id, p.status, p.amount, b.balance_minor FROM payout_requests p
LEFT JOIN ledger_balances b ON b.account = 'in_transit:' || p.id
WHERE coalesce(b.balance_minor, 0) <> CASE p.status WHEN 'pending' THEN p.amount ELSE 0 END;

-- payouts: the last line of each statement is the wallet's balance
SELECT DISTINCT ON (w.vendor_id) w.vendor_id, w.balance_minor AS line_minor, b.balance_minor FROM wallet_lines w
LEFT JOIN ledger_balances b ON b.account = 'wallet:' || w.vendor_id
WHERE w.position = (SELECT max(position) FROM wallet_lines l WHERE l.vendor_id = w.vendor_id)
AND w.balance_minor <> coalesce(b.balance_minor, 0);

-- payouts: each checkpoint of a vendor's credits equals its lines and statements up to there
SELECT c.vendor_id, c.last_line, c.sequence, c.received_minor, lines.received_minor::text AS lines_received_minor,
    c.paid_minor, lines.paid_minor::text AS lines_paid_minor
FROM release_checkpoints c CROSS JOIN LATERAL (SELECT
    coalesce(sum(net_minor) FILTER (WHERE kind IN ('release', 'refund', 'chargeback', 'chargeback_won', 'correction')), 0)
        AS received_minor,
    coalesce(sum(net_minor) FILTER (WHERE kind IN ('payout', 'restitution', 'reversal', 'recovery', 'recovery_returned',
        'waiver')), 0) AS paid_minor
FROM wallet_lines l WHERE l.vendor_id = c.vendor_id AND l.position <= c.last_line) AS lines
CROSS JOIN LATERAL (SELECT count(DISTINCT sequence) AS numbers FROM release_statements s
WHERE s.vendor_id = c.vendor_id AND s.sequence <= c.sequence) AS stated
WHERE (c.received_minor, c.paid_minor, c.sequence) <> (lines.received_minor, lines.paid_minor, stated.numbers)
OR NOT EXISTS (SELECT FROM release_statements s
WHERE s.vendor_id = c.vendor_id AND s.sequence = c.sequence AND s.net_minor = c.received_minor);

-- payouts: every statement line continues the balance and the time of the one before it
SELECT vendor_id, id, kind, net_minor, balance_minor, before_minor, at FROM (SELECT *,
coalesce(lag(balance_minor) OVER lines, 0) AS before_minor, lag(at) OVER lines AS before_at FROM wallet_lines
WINDOW lines AS (PARTITION BY vendor_id ORDER BY position)) AS l
WHERE balance_minor <> before_minor + net_minor OR at < before_at;

-- payouts: a scheduled payout is its vendor's, of all that was available
SELECT s.vendor_id, s.period, s.payout_id, p.amount, s.available_minor FROM scheduled_payouts s
JOIN payout_requests p ON p.id = s.payout_id WHERE p.vendor_id <> s.vendor_id OR p.amount <> s.available_minor;

-- payouts: each paid transfer is posted once, and a returned one is not
-- Grouped once: a subquery for each payout would read the ledger as often as there are payouts.
SELECT p.id, p.status, coalesce(paid.transfers, 0) AS transfers, coalesce(booked.postings, 0) AS postings
FROM payout_requests p LEFT JOIN (SELECT payout_id, count(*) AS transfers FROM payout_transfers
WHERE status = 'success' GROUP BY 1) AS paid ON paid.payout_id = p.id LEFT JOIN (SELECT payout_id, sum(times) AS
    postings
FROM (SELECT split_part(posting_key, ':', 2) AS payout_id, CASE type WHEN 'reversal' THEN -1 ELSE 1 END AS times
FROM ledger_transactions WHERE type IN ('payout_processed', 'reversal') UNION ALL
SELECT a.payout_id::text, CASE t.type WHEN 'recovery_returned' THEN -1 ELSE 1 END FROM ledger_transactions t
JOIN payout_transfers a ON a.id::text = split_part(t.posting_key, ':', 2)
WHERE t.type IN ('recovery', 'recovery_returned')) AS postings GROUP BY 1) AS booked ON booked.payout_id = p.id::text
WHERE coalesce(paid.transfers, 0) <> coalesce(booked.postings, 0);
-- undecided
-- A returned payout, or one paid outside the ledger: its exception stays open until maker and checker decide, also after a
-- rejected decision.
SELECT payout_id FROM payout_exceptions WHERE status = 'open' AND payout_id IS NOT NULL;

-- payouts (open): no vendor's payouts are held because the wallet differs from what payments released
SELECT vendor_id, id, cause, detail FROM payout_exceptions WHERE status = 'open' AND payout_id IS NULL AND batch_id
    IS NULL;

-- payouts: a processed payout has its confirmed transfer, unless its money was restituted
SELECT p.id FROM payout_requests p WHERE p.status = 'processed' AND NOT EXISTS
(SELECT FROM payout_transfers t WHERE t.payout_id = p.id AND t.status IN ('success', 'reversed')) AND NOT EXISTS
(SELECT FROM ledger_transactions t WHERE t.posting_key = 'reversal:' || p.id);

-- payouts: a failed payout is restituted and no other, a reversed one is processed, and no money returns twice
SELECT p.id, p.status, back.restitutions, back.reversals FROM payout_requests p CROSS JOIN LATERAL (SELECT
count(*) FILTER (WHERE t.type = 'restitution'), count(*) FILTER (WHERE t.type = 'reversal') FROM ledger_transactions t
WHERE t.posting_key IN ('restitution:' || p.id, 'reversal:' || p.id)) AS back (restitutions, reversals)
WHERE back.restitutions <> (p.status = 'failed')::int OR (back.reversals > 0 AND p.status <> 'processed');

-- payouts: the fees of transfers are in the ledger as the gateway reported them, each beside its transfer
SELECT t.id, t.reference, t.fee, b.minor::text AS booked_minor FROM payout_transfers t FULL JOIN (SELECT
split_part(l.posting_key, ':', 2) AS transfer_id, sum(e.amount_minor) AS minor FROM ledger_transactions l
JOIN ledger_entries e ON e.transaction_id = l.id WHERE e.account = 'transfer_fees' GROUP BY 1) AS b
ON b.transfer_id = t.id::text WHERE coalesce(t.fee, 0) <> coalesce(b.minor, 0);

-- payouts: a transfer is recovered again only after its recovery was returned, and each is returned once
SELECT posting_key, type, before, (SELECT a.payout_id FROM payout_transfers a
WHERE a.id::text = split_part(posting_key, ':', 2)) AS payout_id FROM
(SELECT posting_key, type, lag(type, 1, 'recovery_returned') OVER
(PARTITION BY split_part(posting_key, ':', 2) ORDER BY position) AS before FROM ledger_transactions
WHERE type IN ('recovery', 'recovery_returned')) AS postings WHERE type = before;

-- payouts: every reversal and recovery was approved by a second person, and every approval was posted
SELECT t.posting_key, r.id, r.kind, r.prepared_by, r.decided_by FROM (SELECT * FROM ledger_transactions
WHERE type IN ('reversal', 'recovery', 'recovery_returned') OR posting_key LIKE 'hold_released:%') t FULL JOIN
(SELECT *, postings -> 0 ->> 'postingKey' AS posting_key
FROM reconciliations WHERE status = 'approved') r ON r.posting_key = t.posting_key
WHERE r.id IS NULL OR r.decided_by = r.prepared_by OR NOT EXISTS
(SELECT FROM ledger_transactions l WHERE l.posting_key = r.posting_key);

-- payouts: the posted entries equal the prepared ones, account by account
SELECT r.id, r.kind, prepared.entry, posted.account, posted.amount_minor FROM reconciliations r
CROSS JOIN LATERAL (SELECT jsonb_array_elements(r.postings -> 0 -> 'entries') AS entry) AS prepared
LEFT JOIN ledger_transactions t ON t.posting_key = r.postings -> 0 ->> 'postingKey'
LEFT JOIN ledger_entries posted ON posted.transaction_id = t.id AND posted.account = prepared.entry ->> 'account'
WHERE r.status = 'approved' AND posted.amount_minor IS DISTINCT FROM (prepared.entry ->> 'amountMinor')::bigint;

-- orders: an order's total is the sum of its items and its delivery fee
SELECT o.id, o.total_amount, sum(i.line_total_minor)::text AS items_minor FROM orders o
LEFT JOIN order_items i ON i.order_id = o.id GROUP BY o.id
HAVING o.total_amount <> coalesce(sum(i.line_total_minor), 0) + o.delivery_fee_minor;

-- orders: an order shows as refunded what its sales show
SELECT o.id, o.status, o.refunded_minor, sum(s.refunded_minor)::text AS sales_minor FROM orders o JOIN sale_lines s
ON s.order_id = o.id GROUP BY o.id HAVING o.refunded_minor <> sum(s.refunded_minor);

-- orders: no order is refunded while one of its refunds is failed
SELECT o.id, o.status, r.id AS refund_id FROM orders o JOIN order_refunds r ON r.order_id = o.id
WHERE o.status = 'refunded' AND r.status = 'failed';

-- orders: no order requests refunds above its total
SELECT o.id, o.total_amount, sum(r.amount_minor)::text AS refunds_minor FROM orders o JOIN order_refunds r ON
    r.order_id = o.id
GROUP BY o.id HAVING sum(r.amount_minor) > o.total_amount;

-- orders: the sold units of a flash sale equal its orders, and no buyer exceeds the limit
SELECT s.id, s.sold, taken.units::text, taken.most_of_one::text, s.per_buyer_limit FROM flash_sales s CROSS JOIN
    LATERAL (SELECT
coalesce(sum(units), 0), coalesce(max(units), 0) FROM (SELECT sum(quantity) AS units FROM flash_sale_units
WHERE sale_id = s.id AND NOT returned GROUP BY buyer_id) AS buyers) AS taken (units, most_of_one)
WHERE s.sold <> taken.units OR taken.most_of_one > s.per_buyer_limit;

-- orders: no inventory is below zero
SELECT id, stock FROM products WHERE stock < 0;
