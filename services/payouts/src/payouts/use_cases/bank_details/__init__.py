"""Vendors' bank details and their quarantine."""

__all__ = [
    "change_bank_details",
    "check_encryption_key",
    "encrypt_account_numbers",
    "quarantine_bank_details",
    "refresh_banks",
]
