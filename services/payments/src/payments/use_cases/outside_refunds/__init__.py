"""Refunds that were made in the gateway's dashboard (contract section 7.6)."""

__all__ = [
    "prepare_correction",
]
