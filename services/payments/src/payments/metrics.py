"""The metrics of the payments service."""

from prometheus_client import Counter, Gauge

from common.ledger.chain_loops import LedgerChain

WEBHOOKS_ACCEPTED = Counter(
    "payments_webhooks_accepted_total",
    "Correctly signed webhooks: first arrivals, duplicates, and revisions of recorded ones.",
    ["arrival"],
)
WEBHOOKS_REJECTED = Counter("payments_webhooks_refused_total", "Webhooks without a valid signature.")
WEBHOOKS_PROCESSED = Counter(
    "payments_webhooks_taken_total", "Processed webhooks by event and outcome.", ["event", "outcome"]
)
# Owns the gauges payments_book_unsealed, payments_book_length and payments_book_broken.
LEDGER_CHAIN = LedgerChain("payments")
UNEXPLAINED_MINOR = Gauge("payments_unexplained_minor", "Kobo of the open reconciliation cases.")
UNEXPLAINED_CASES = Gauge("payments_unexplained_cases", "Open reconciliation cases.")
ESCROW_LIABILITY_MINOR = Gauge("payments_escrow_liability_minor", "Kobo held in escrow for orders.")
QUARANTINED_CHARGES_WAITING = Gauge(
    "payments_quarantined_charges_waiting", "Quarantined charges without an approved decision, at most 10,000."
)
AUDIT_BROKEN = Gauge("payments_audit_broken", "1 while the latest recorded audit is broken, else 0.")
AUDIT_TIMESTAMP_SECONDS = Gauge(
    "payments_audit_timestamp_seconds",
    "The end of the latest audit that was compared with the payment gateway, Unix time; without one the first posting.",
)
DEAD_WEBHOOKS_WAITING = Gauge(
    "payments_dead_letter_webhooks_waiting",
    "Dead-lettered gateway webhooks without a successful replay, at most 10,000.",
)
