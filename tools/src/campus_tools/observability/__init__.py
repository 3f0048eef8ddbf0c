"""The inventory of metrics, the service level objectives, and the alert rules and dashboards that query them."""
