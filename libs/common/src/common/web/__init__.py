"""HTTP of a service: the application, endpoints, envelope, uploads, error handlers."""

__all__ = [
    "client_address",
    "csv_export",
    "endpoint_table",
    "endpoints",
    "envelope",
    "health",
    "http",
    "http_context",
    "http_protocol",
    "idempotency",
    "pages",
    "provider_client",
    "raw_bodies",
    "request_path",
    "request_scope",
    "response_models",
    "responses",
    "schemas",
    "uploads",
]
