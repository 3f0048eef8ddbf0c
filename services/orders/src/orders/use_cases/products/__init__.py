"""Products, their stock and their images."""
