"""What this service counts beside what every service counts."""

from prometheus_client import Counter, Gauge

from common.ledger.chain_loops import Book

WEBHOOKS_ACCEPTED = Counter(
    "payments_webhooks_accepted_total",
    "Well-signed webhooks: first arrivals, duplicates, and revisions of what was recorded.",
    ["arrival"],
)
WEBHOOKS_REFUSED = Counter("payments_webhooks_refused_total", "Webhooks without a valid signature.")
WEBHOOKS_PROCESSED = Counter(
    "payments_webhooks_taken_total", "Webhooks by event and by what became of them.", ["event", "outcome"]
)
# It owns the gauges payments_book_unsealed, payments_book_length and payments_book_broken.
BOOK = Book("payments")
UNEXPLAINED_MINOR = Gauge("payments_unexplained_minor", "Kobo of the reconciliation cases that are open.")
UNEXPLAINED_CASES = Gauge("payments_unexplained_cases", "Reconciliation cases that are open.")
ESCROW_LIABILITY_MINOR = Gauge("payments_escrow_liability_minor", "Kobo held in escrow for orders.")
QUARANTINED_CHARGES_WAITING = Gauge(
    "payments_quarantined_charges_waiting", "Charges in quarantine that two people have not decided, at most 10,000."
)
DEAD_WEBHOOKS_WAITING = Gauge(
    "payments_dead_letter_webhooks_waiting", "Gateway webhooks that were given up and not replayed, at most 10,000."
)
