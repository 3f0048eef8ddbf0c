"""What a person proves themselves with: passwords, one-time codes, signed tokens."""
