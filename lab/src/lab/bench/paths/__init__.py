"""One module for each hot path: `measure(stage)` answers the rows of the table that belong to it."""
