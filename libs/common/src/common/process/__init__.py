"""The processes of a service: commands, runtime, HTTP server, loops and settings."""

__all__ = [
    "lean_imports",
    "loops",
    "revocations",
    "runtime",
    "server",
    "service",
    "settings",
]
