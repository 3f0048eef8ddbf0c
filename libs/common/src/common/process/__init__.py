"""The processes of a service: commands, runtime, HTTP server, loops and settings."""
