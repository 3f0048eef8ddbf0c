"""Alerts on processes, queues, money and secrets. Of a gauge that several processes of a service export, the highest counts."""

from typing import Final

from campus_tools.observability.inventory import SERVICES
from campus_tools.observability.rules import USER_REQUESTS, Alert

# Subscriber queues and delay queues have no consumers of the services.
_OURS: Final = rf"({'|'.join(SERVICES)})\\..*"

PROCESSES: Final = (
    Alert(
        "service-down",
        "SEV-1",
        'sum by (service) (up{job="campus"}) == 0',
        "1m",
        "No process of {{ $labels.service }} responds.",
    ),
    Alert("process-down", "SEV-2", 'up{job="campus"} == 0', "2m", "{{ $labels.process }} does not respond."),
    Alert(
        "process-restarts",
        "SEV-3",
        'changes(process_start_time_seconds{job="campus"}[15m]) > 3',
        "0m",
        "{{ $labels.process }} restarted more than three times within 15 minutes.",
    ),
    Alert(
        "service-errors",
        "SEV-2",
        # Probes are excluded: the readiness probe of a starting process returns 503.
        f'sum by (service) (rate(http_request_seconds_count{{status=~"5..",{USER_REQUESTS}}}[5m]))'
        f" / sum by (service) (rate(http_request_seconds_count{{{USER_REQUESTS}}}[5m])) > 0.05",
        "5m",
        "More than 5 % of the responses of {{ $labels.service }} are server errors (5xx).",
    ),
    Alert(
        "event-loop-lag",
        "SEV-3",
        "avg_over_time(event_loop_lag_seconds[5m]) > 0.1",
        "10m",
        "{{ $labels.process }} lacks CPU time: its event loop lags by more than 100 ms.",
    ),
    Alert(
        "database-pool-exhausted",
        "SEV-2",
        'min_over_time(database_connections{state="in_use"}[2m]) >= ignoring (state) database_connections{state="max"}',
        "2m",
        "All database connections of {{ $labels.process }} for the role {{ $labels.role }} are in use.",
    ),
    Alert(
        "edge-sheds-load",
        "SEV-2",
        "sum(rate(gateway_shed_total[5m])) > 1",
        "5m",
        "The gateway rejects requests because too many are in flight.",
    ),
    Alert(
        "quota-store-unavailable",
        "SEV-3",
        "sum(rate(gateway_quota_store_away_total[5m])) > 0",
        "5m",
        "The quota store does not respond: each gateway process counts quotas by itself.",
    ),
    Alert(
        "revocations-late",
        "SEV-2",
        "max by (service) (broadcasts_unheard_seconds) > 60",
        "1m",
        "{{ $labels.service }} receives no broadcasts: revoked sessions and suspended users may still be accepted.",
    ),
    Alert(
        "retention-behind",
        "SEV-3",
        "max by (service, what) (retention_overdue_seconds) > 86400 or max by (service, what) (retention_astray_rows) > 0",
        "1h",
        "Retention of {{ $labels.service }} fails: {{ $labels.what }} is overdue for a purge or has rows that fit no partition.",
    ),
)

QUEUES: Final = (
    Alert(
        "outbox-age",
        "SEV-2",
        "max by (service) (outbox_age_seconds) > 60",
        "2m",
        "The oldest outbox row of {{ $labels.service }} has waited for more than a minute: events do not reach the broker.",
    ),
    Alert(
        "queue-length",
        "SEV-2",
        'max by (queue) (rabbitmq_detailed_queue_messages_ready{queue!~"campus\\\\.delay\\\\..*"}) > 1000',
        "10m",
        "More than 1,000 messages wait in {{ $labels.queue }}: its consumers are too slow.",
    ),
    Alert(
        "queue-without-consumer",
        "SEV-2",
        f'max by (queue) (rabbitmq_detailed_queue_consumers{{queue=~"{_OURS}"}}) == 0',
        "3m",
        "{{ $labels.queue }} has no consumer.",
    ),
    Alert(
        "broker-alarm",
        "SEV-1",
        "max(rabbitmq_alarms_memory_used_watermark) == 1 or max(rabbitmq_alarms_free_disk_space_watermark) == 1",
        "1m",
        "The broker is short of memory or disk and accepts no messages.",
    ),
    Alert(
        "dead-letters",
        "SEV-2",
        "max by (service) (dead_letters_waiting) > 0",
        "1m",
        "{{ $value }} dead letters of {{ $labels.service }} wait for a replay.",
    ),
    Alert(
        "erasure-overdue",
        "SEV-3",
        "max by (awaits) (identity_erasure_open_seconds) > 3600",
        "5m",
        "An erasure request has waited for more than an hour: {{ $labels.awaits }} has not reported the open obligations.",
    ),
)

MONEY: Final = (
    Alert(
        "dead-letter-webhooks",
        "SEV-2",
        "max(payments_dead_letter_webhooks_waiting) > 0",
        "1m",
        "{{ $value }} dead webhooks of the payment gateway wait for a replay.",
    ),
    Alert(
        "webhook-signatures",
        "SEV-2",
        "sum(rate(payments_webhooks_refused_total[10m])) > 0.05",
        "5m",
        "Webhooks with invalid signatures arrive.",
    ),
    Alert(
        "unexplained-kobo",
        "SEV-2",
        "max(payments_unexplained_cases) > 0",
        "1h",
        "{{ $value }} differences between the payment gateway, the ledger and the orders are open.",
    ),
    Alert(
        "audit-broken",
        "SEV-1",
        "max(payments_audit_broken) == 1",
        "0m",
        "The latest audit found a broken money invariant.",
    ),
    Alert(
        "audit-overdue",
        "SEV-2",
        # A gauge that a process has not set yet is 0.
        "time() - max(payments_audit_timestamp_seconds != 0) > 26 * 3600",
        "10m",
        "No audit was compared with the payment gateway for 26 hours.",
    ),
    Alert(
        "ledger-changed",
        "SEV-1",
        "max(payments_book_broken) == 1 or max(payouts_book_broken) == 1",
        "0m",
        "A ledger does not match its hash chain.",
    ),
    Alert(
        "ledger-chain-behind",
        "SEV-2",
        "max(payments_book_unsealed) > 1000 or max(payouts_book_unsealed) > 1000",
        "5m",
        "{{ $value }} postings are not linked into the hash chain yet.",
    ),
    Alert(
        "escrow-not-covered",
        "SEV-1",
        "max(payments_escrow_liability_minor) > sum(max by (gateway) (payouts_gateway_balance_minor))",
        "1h",
        "{{ $value }} kobo are held in escrow: more than the balance at the payment gateways.",
    ),
    Alert(
        "gateway-balance-unknown",
        "SEV-3",
        "time() - min(max by (gateway) (payouts_gateway_balance_timestamp_seconds)) > 3600",
        "5m",
        "The balance at a payment gateway was not updated for an hour.",
    ),
    Alert(
        "payout-failure-rate",
        "SEV-2",
        "max(payout_failure_rate) > 0.05 and max(payout_attempts_in_window) >= 20",
        "1m",
        "More than 5 % of the payout attempts fail.",
    ),
)

SECRETS: Final = (
    Alert(
        "signing-key-age",
        "SEV-3",
        "time() - max(identity_signing_key_timestamp_seconds) > 365 * 86400",
        "1h",
        "The token signing key is older than a year.",
    ),
    Alert(
        "guesses-over-many-accounts",
        "SEV-2",
        "max by (by) (identity_guessed_accounts) > 200",
        "5m",
        "Wrong {{ $labels.by }}s at {{ $value }} accounts within an hour: an attacker guesses over many accounts.",
    ),
    Alert(
        "text-budget-exhausted",
        "SEV-2",
        'sum by (budget) (increase(identity_messages_refused_total{budget=~"prefix|total"}[10m])) > 0',
        "1m",
        "Codes by text are refused: the hourly budget of texts ({{ $labels.budget }}) is used up.",
    ),
    Alert(
        "certificate-expires",
        "SEV-2",
        "certmanager_certificate_expiration_timestamp_seconds - time() < 3 * 86400",
        "10m",
        "The certificate {{ $labels.name }} expires within three days.",
    ),
    Alert(
        "certificate-expires",
        "SEV-3",
        "certmanager_certificate_expiration_timestamp_seconds - time() < 14 * 86400",
        "1h",
        "The certificate {{ $labels.name }} expires within two weeks and was not renewed.",
    ),
)
