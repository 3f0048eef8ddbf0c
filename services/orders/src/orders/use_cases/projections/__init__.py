"""Projections of identity's users, vendors, campuses and hubs. A stale event returns STALE."""

__all__ = [
    "close_vendor",
    "project_campus",
    "project_hub",
    "project_user",
    "project_vendor",
    "project_vendor_status",
]
