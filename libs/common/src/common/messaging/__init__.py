"""RabbitMQ: outbox, relay, bus, consumers with inbox and retry ladder, dead letters."""
