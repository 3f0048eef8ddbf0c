"""The schema of `tables/` and `sql/`: an empty database gets it at once, at the newest revision (decision 129)."""

revision = "0014"
down_revision = None
# Of the schema at this revision, for `tools/tests/test_migrations.py`.
schema_digest = "a7de58f79e67c48c005880db345861f040485d80788514df5f12dd5352f31862"
