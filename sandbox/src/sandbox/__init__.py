"""The outside world for development and tests: other companies, on their own wire protocols."""
