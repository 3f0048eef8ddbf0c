"""Request bodies, and the response models of OpenAPI."""
