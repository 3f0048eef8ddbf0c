"""What tests and developers turn and read: faults, settings, the book, the messages. No provider has these paths."""
