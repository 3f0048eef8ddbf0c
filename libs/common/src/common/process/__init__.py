"""The processes of a service: commands, runtime, HTTP server, loops and settings."""

__all__ = [
    "consuming",
    "lean_imports",
    "loops",
    "message_retention",
    "process_settings",
    "revocations",
    "runtime",
    "server",
    "service",
    "service_endpoints",
    "settings",
]
