"""What this service shows on /metrics beside what all do."""

from prometheus_client import Gauge

from common.ledger.chain_loops import Book

PAYOUT_ATTEMPTS = Gauge("payout_attempts_in_window", "Transfer attempts of the observation window.")
PAYOUT_FAILURE_RATE = Gauge(
    "payout_failure_rate", "Share of the attempts of the observation window that opened an exception, 0 to 1."
)
# It owns the gauges payouts_book_unsealed, payouts_book_length and payouts_book_broken.
LEDGER = Book("payouts")
GATEWAY_BALANCE_MINOR = Gauge("payouts_gateway_balance_minor", "Kobo of our balance at the payment gateway.")
GATEWAY_BALANCE_TIME = Gauge(
    "payouts_gateway_balance_timestamp_seconds", "When the payment gateway told the balance last, Unix time."
)
