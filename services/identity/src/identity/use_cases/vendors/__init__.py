"""Vendors, their applications and their commission."""

__all__ = [
    "apply_as_vendor",
    "approve_commission_change",
    "approve_vendor_application",
    "change_vendor",
    "prepare_commission_change",
    "reinstate_vendor",
    "reject_commission_change",
    "reject_vendor_application",
    "suspend_vendor",
]
