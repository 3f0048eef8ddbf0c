"""PostgreSQL: the unit of work with its two roles, shared tables, retention."""
