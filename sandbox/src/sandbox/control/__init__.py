"""The control API for tests and developers: faults, settings, the ledger, the messages. No provider has these paths."""
