"""Request bodies, and the shapes of the answers as OpenAPI shows them."""
