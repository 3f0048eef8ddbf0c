"""Request bodies, and the response shapes that OpenAPI shows."""
