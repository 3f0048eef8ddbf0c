"""Support: tickets, and the messages that customers write in the messaging app."""
