"""Reads: SQL in, response models out, one module per area. Row policies decide what a caller sees."""
