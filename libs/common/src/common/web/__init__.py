"""HTTP of a service: the application, endpoints, envelope, uploads, error handlers."""
