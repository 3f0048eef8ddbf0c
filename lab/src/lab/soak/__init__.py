"""Load over minutes with failing parts: nothing is lost and nothing happens twice."""
