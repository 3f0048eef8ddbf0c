"""Metrics of this service on /metrics, besides the common ones."""

from prometheus_client import Gauge

from common.ledger.chain_loops import LedgerChain

PAYOUT_ATTEMPTS = Gauge("payout_attempts_in_window", "Transfer attempts of the observation window.")
PAYOUT_FAILURE_RATE = Gauge(
    "payout_failure_rate", "Share of the attempts of the observation window that opened an exception, 0 to 1."
)
# Registers the gauges payouts_book_unsealed, payouts_book_length and payouts_book_broken.
LEDGER = LedgerChain("payouts")
GATEWAY_BALANCE_MINOR = Gauge(
    "payouts_gateway_balance_minor", "Our balance at a payment gateway, in kobo.", ["gateway"]
)
GATEWAY_BALANCE_TIME = Gauge(
    "payouts_gateway_balance_timestamp_seconds",
    "Time of the last balance response of a payment gateway in use, Unix seconds.",
    ["gateway"],
)
