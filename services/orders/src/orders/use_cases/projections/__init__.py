"""Copies of identity's vendors, campuses and hubs."""

__all__ = [
    "close_vendor",
    "project_campus",
    "project_hub",
    "project_vendor",
    "project_vendor_status",
]
