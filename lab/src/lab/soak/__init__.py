"""Load over minutes, with parts that die in it: proof that nothing is lost and nothing happens twice."""
