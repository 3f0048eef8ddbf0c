"""What operators run beside the services: campusctl, the audit, provisioning, rotation of secrets, the demo."""
