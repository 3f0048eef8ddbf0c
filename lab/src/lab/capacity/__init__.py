"""What an order costs, what one machine carries, and what ten million orders a day would need."""
