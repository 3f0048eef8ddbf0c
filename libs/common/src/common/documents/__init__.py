"""Receipts, remittances and invoices: their numbers and contents, and how they are rendered (decision 154)."""

__all__ = [
    "document",
    "html_page",
    "issuing",
    "media_types",
    "pdf_file",
    "rendering",
]
