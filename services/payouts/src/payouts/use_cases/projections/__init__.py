"""Projections of identity's vendors."""

__all__ = ["close_vendor", "project_vendor", "project_vendor_status"]
