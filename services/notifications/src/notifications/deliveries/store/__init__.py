"""Writes of this service, one module for each noun: named SQL without decisions."""
