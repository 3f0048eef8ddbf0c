"""Projections of identity's vendors, campuses and hubs. A stale event returns STALE."""

__all__ = [
    "close_vendor",
    "project_buyer",
    "project_campus",
    "project_hub",
    "project_vendor",
    "project_vendor_status",
]
