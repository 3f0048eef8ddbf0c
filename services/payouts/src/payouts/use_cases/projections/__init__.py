"""Projections of identity's vendors."""
