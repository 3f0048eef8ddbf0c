"""RabbitMQ: outbox, relay, bus, consumers with inbox and retry ladder, dead letters."""

__all__ = [
    "alerts",
    "batches",
    "bus",
    "consumers",
    "dead_letters",
    "declaring",
    "delivery_headers",
    "faults",
    "inbox",
    "messages",
    "provenance",
    "relay",
    "replaying",
    "republishing",
    "shown_payloads",
    "topology",
]
