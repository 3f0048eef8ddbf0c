"""The shared library of all services: mechanisms without business rules."""
