"""What lies outside of the service: where pictures are kept, and what makes them."""
