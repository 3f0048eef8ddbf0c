"""Schemas: their creation and changes, the runner of `migrate`, and the rights of the audit."""
