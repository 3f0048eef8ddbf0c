"""What the people on call see: the inventory of metrics, and the rules and dashboards made of it."""
