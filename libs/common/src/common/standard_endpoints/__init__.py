"""The endpoints that every service has: dead letters, queues, the caller's work and actions, settings, personal
records.
"""
