"""The cost of an order, the capacity of one machine, and the machines for ten million orders a day."""
