"""Operations of the marketplace: campusctl, the audit, provisioning, secret rotation and the demo."""
