"""The schema of `tables/` and `sql/`: an empty database gets it at once, at the newest revision (decision 129)."""

revision = "0011"
down_revision = None
# Of the schema at this revision, for `tools/tests/test_migrations.py`.
schema_digest = "3ed955d90a02f5cc90ceec394bfd8e7fc042e090e2bbef24cd79b036f0c530b3"
