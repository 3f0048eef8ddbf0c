"""Backup and restore of a system on one machine: PostgreSQL by pgBackRest, the image store, and the secrets.

docs/backup.md has the procedure, decision 175 the reasons.
"""
