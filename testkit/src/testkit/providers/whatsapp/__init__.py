"""Facts of WhatsApp's Cloud API, by Meta's documentation of 2026.

The API's own OpenAPI document (facebook/openapi) has examples instead of schemas, so these facts are compared with
none.
"""
