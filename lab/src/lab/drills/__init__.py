"""Operating drills on a separate system: restore, upgrade under load, simultaneous start, and rotation of secrets."""
