"""The schema of `tables/` and `sql/`: an empty database gets it at once, at the newest revision (decision 129)."""

revision = "0004"
down_revision = None
# Of the schema at this revision, for `tools/tests/test_migrations.py`.
schema_digest = "1d691d2e2b09c2c8c74cadbf223bcb6095208dd0899560d787db8d09093fadc8"
