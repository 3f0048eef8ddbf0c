"""The schema of `tables/` and `sql/`: an empty database gets it at once, at the newest revision (decision 129)."""

revision = "0012"
down_revision = None
# Of the schema at this revision, for `tools/tests/test_migrations.py`.
schema_digest = "4be6a0bfb33d6b1e8872701a46f4e955260984a573010098a8d3507a5ac106b9"
