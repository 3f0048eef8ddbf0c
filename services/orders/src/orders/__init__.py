"""Products, stock, orders and delivery PINs."""
