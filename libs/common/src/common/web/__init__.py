"""HTTP of a service: the application, guards, envelope, error handlers, standard routes, event streams."""

__all__ = [
    "csv_export",
    "dead_letter_routes",
    "envelope",
    "event_streams",
    "http",
    "http_context",
    "http_protocol",
    "idempotency",
    "optional_caller",
    "outbound",
    "outbound_addresses",
    "pages",
    "pending_work",
    "personal_records",
    "provider_client",
    "queue_routes",
    "request_scope",
    "responses",
    "schemas",
    "standard_routers",
]
