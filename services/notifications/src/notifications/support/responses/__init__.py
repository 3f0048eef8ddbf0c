"""Responses, one module for each area."""
