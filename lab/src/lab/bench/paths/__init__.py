"""One module for each hot path: `measure(bench)` returns its rows of the table."""
