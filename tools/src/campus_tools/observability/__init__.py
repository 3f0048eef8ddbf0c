"""The inventory of metrics, and the alert rules and dashboards that are generated with it."""
