"""The published language: events between services, and the roles of all of them. Imports nothing of ours."""
