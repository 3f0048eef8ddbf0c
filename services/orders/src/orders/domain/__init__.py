"""The pure core: what an order is, which moves it may make, what it costs, and when a PIN is accepted."""
