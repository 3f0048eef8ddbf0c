"""What else wakes somebody: processes, queues, money, secrets. Gauges of several processes of a service are one truth: the highest."""

from typing import Final

from campus_tools.observability.inventory import SERVICES
from campus_tools.observability.rules import USER_REQUESTS, Alert

# Queues of outside subscribers, and those in which retries wait, have no consumers of ours.
_OURS: Final = rf"({'|'.join(SERVICES)})\\..*"

PROCESSES: Final = (
    Alert(
        "service-down",
        "SEV-1",
        'sum by (service) (up{job="campus"}) == 0',
        "1m",
        "No process of {{ $labels.service }} answers.",
    ),
    Alert("process-down", "SEV-2", 'up{job="campus"} == 0', "2m", "{{ $labels.process }} does not answer."),
    Alert(
        "process-restarts",
        "SEV-3",
        'changes(process_start_time_seconds{job="campus"}[15m]) > 3',
        "0m",
        "{{ $labels.process }} was started again and again within 15 minutes.",
    ),
    Alert(
        "service-errors",
        "SEV-2",
        # Not what watches: a process that starts is not ready for a while, and says so with 503.
        f'sum by (service) (rate(http_request_seconds_count{{status=~"5..",{USER_REQUESTS}}}[5m]))'
        f" / sum by (service) (rate(http_request_seconds_count{{{USER_REQUESTS}}}[5m])) > 0.05",
        "5m",
        "More than 5 % of the answers of {{ $labels.service }} are faults.",
    ),
    Alert(
        "event-loop-lag",
        "SEV-3",
        "avg_over_time(event_loop_lag_seconds[5m]) > 0.1",
        "10m",
        "{{ $labels.process }} is short of its core: its event loop wakes late.",
    ),
    Alert(
        "database-pool-exhausted",
        "SEV-2",
        'min_over_time(database_connections{state="in_use"}[2m]) >= ignoring (state) database_connections{state="max"}',
        "2m",
        "{{ $labels.process }} has every connection of its role {{ $labels.role }} in use.",
    ),
    Alert(
        "edge-sheds-load",
        "SEV-2",
        "sum(rate(gateway_shed_total[5m])) > 1",
        "5m",
        "The gateway refuses requests because too many are under way.",
    ),
    Alert(
        "quota-store-unavailable",
        "SEV-3",
        "sum(rate(gateway_quota_store_away_total[5m])) > 0",
        "5m",
        "Quotas are counted by each gateway for itself: their store does not answer.",
    ),
    Alert(
        "revocations-late",
        "SEV-2",
        "max by (service) (broadcasts_unheard_seconds) > 60",
        "1m",
        "{{ $labels.service }} hears no broadcast: who was signed out or suspended meanwhile is still believed.",
    ),
    Alert(
        "retention-behind",
        "SEV-3",
        "max by (service, what) (retention_overdue_seconds) > 86400 or max by (service, what) (retention_astray_rows) > 0",
        "1h",
        "What {{ $labels.service }} keeps for a time only does not leave as it should: {{ $labels.what }}.",
    ),
)

QUEUES: Final = (
    Alert(
        "outbox-age",
        "SEV-2",
        "max by (service) (outbox_age_seconds) > 60",
        "2m",
        "What {{ $labels.service }} has said does not reach the broker.",
    ),
    Alert(
        "queue-length",
        "SEV-2",
        'max by (queue) (rabbitmq_detailed_queue_messages_ready{queue!~"campus\\\\.delay\\\\..*"}) > 1000',
        "10m",
        "More messages wait in {{ $labels.queue }} than its consumers take.",
    ),
    Alert(
        "queue-without-consumer",
        "SEV-2",
        f'max by (queue) (rabbitmq_detailed_queue_consumers{{queue=~"{_OURS}"}}) == 0',
        "3m",
        "Nobody consumes {{ $labels.queue }}.",
    ),
    Alert(
        "broker-alarm",
        "SEV-1",
        "max(rabbitmq_alarms_memory_used_watermark) == 1 or max(rabbitmq_alarms_free_disk_space_watermark) == 1",
        "1m",
        "The broker is short of memory or disk and takes no messages.",
    ),
    Alert(
        "dead-letters",
        "SEV-2",
        "max by (service) (dead_letters_waiting) > 0",
        "1m",
        "{{ $value }} messages of {{ $labels.service }} were given up and wait for a replay.",
    ),
    Alert(
        "erasure-overdue",
        "SEV-3",
        "max by (awaits) (identity_erasure_open_seconds) > 3600",
        "5m",
        "Somebody who asked to be erased has no answer: {{ $labels.awaits }} has not said what is under way.",
    ),
)

MONEY: Final = (
    Alert(
        "dead-letter-webhooks",
        "SEV-2",
        "max(payments_dead_letter_webhooks_waiting) > 0",
        "1m",
        "{{ $value }} webhooks of the payment gateway were given up and wait for a replay.",
    ),
    Alert(
        "webhook-signatures",
        "SEV-2",
        "sum(rate(payments_webhooks_refused_total[10m])) > 0.05",
        "5m",
        "Webhooks come with signatures that do not hold.",
    ),
    Alert(
        "unexplained-kobo",
        "SEV-2",
        "max(payments_unexplained_cases) > 0",
        "1h",
        "{{ $value }} differences between the gateway, the book and the orders are open.",
    ),
    Alert(
        "ledger-changed",
        "SEV-1",
        "max(payments_book_broken) == 1 or max(payouts_book_broken) == 1",
        "0m",
        "A book does not match its chain of hashes.",
    ),
    Alert(
        "ledger-chain-behind",
        "SEV-2",
        "max(payments_book_unsealed) > 1000 or max(payouts_book_unsealed) > 1000",
        "5m",
        "{{ $value }} postings wait for their link in the chain of hashes.",
    ),
    Alert(
        "escrow-not-covered",
        "SEV-1",
        "max(payments_escrow_liability_minor) > max(payouts_gateway_balance_minor)",
        "1h",
        "{{ $value }} kobo are held for orders: more than lies at the payment gateway.",
    ),
    Alert(
        "gateway-balance-unknown",
        "SEV-3",
        "time() - max(payouts_gateway_balance_timestamp_seconds) > 3600",
        "5m",
        "The payment gateway has not told our balance for an hour.",
    ),
    Alert(
        "payout-failure-rate",
        "SEV-2",
        "max(payout_failure_rate) > 0.05 and max(payout_attempts_in_window) >= 20",
        "1m",
        "More than 5 % of the payouts fail.",
    ),
)

SECRETS: Final = (
    Alert(
        "signing-key-age",
        "SEV-3",
        "time() - max(identity_signing_key_timestamp_seconds) > 365 * 86400",
        "1h",
        "The key that signs tokens is older than a year.",
    ),
    Alert(
        "certificate-expires",
        "SEV-2",
        "certmanager_certificate_expiration_timestamp_seconds - time() < 3 * 86400",
        "10m",
        "The certificate {{ $labels.name }} ends within three days.",
    ),
    Alert(
        "certificate-expires",
        "SEV-3",
        "certmanager_certificate_expiration_timestamp_seconds - time() < 14 * 86400",
        "1h",
        "The certificate {{ $labels.name }} ends within two weeks and was not renewed.",
    ),
)
