"""Live streams to browsers and the dispatch of deliveries: state of one process, shared by its consumers and routes."""
