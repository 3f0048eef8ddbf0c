"""Outgoing webhooks: endpoints, stored events and their deliveries."""
