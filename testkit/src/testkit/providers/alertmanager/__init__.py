"""Alertmanager, API version 2."""
