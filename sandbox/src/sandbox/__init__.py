"""The providers for development and tests, with their own wire protocols."""
