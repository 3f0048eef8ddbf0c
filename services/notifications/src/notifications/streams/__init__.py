"""Live streams to browsers and the limits on concurrent deliveries: state of one process, shared by its consumers and routes."""
