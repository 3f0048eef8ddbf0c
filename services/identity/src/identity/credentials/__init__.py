"""Credentials: passwords, one-time codes, second factors, tokens."""
