"""What this service counts beside what every service counts."""

from prometheus_client import Counter, Gauge

WEBHOOKS_ACCEPTED = Counter(
    "payments_webhooks_accepted_total", "Well-signed webhooks, first arrivals and duplicates.", ["arrival"]
)
WEBHOOKS_REFUSED = Counter("payments_webhooks_refused_total", "Webhooks without a valid signature.")
WEBHOOKS_TAKEN = Counter(
    "payments_webhooks_taken_total", "Webhooks by event and by what became of them.", ["event", "outcome"]
)
BOOK_UNSEALED = Gauge("payments_book_unsealed", "Postings that wait for their link in the chain of hashes.")
BOOK_LENGTH = Gauge("payments_book_length", "Links of the chain when it was verified last.")
BOOK_BROKEN = Gauge("payments_book_broken", "1 when the last verification found the book changed, else 0.")
UNEXPLAINED_MINOR = Gauge("payments_unexplained_minor", "Kobo of the reconciliation cases that are open.")
UNEXPLAINED_CASES = Gauge("payments_unexplained_cases", "Reconciliation cases that are open.")
