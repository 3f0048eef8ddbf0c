"""What this service counts beside what every service counts."""

from prometheus_client import Counter

WEBHOOKS_ACCEPTED = Counter(
    "payments_webhooks_accepted_total", "Well-signed webhooks, first arrivals and duplicates.", ["arrival"]
)
WEBHOOKS_REFUSED = Counter("payments_webhooks_refused_total", "Webhooks without a valid signature.")
WEBHOOKS_TAKEN = Counter(
    "payments_webhooks_taken_total", "Webhooks by event and by what became of them.", ["event", "outcome"]
)
