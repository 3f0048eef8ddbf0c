"""What the product is made of, and whether anything in it is known to be unsafe."""
