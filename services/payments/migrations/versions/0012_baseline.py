"""The schema of `tables/` and `sql/`: an empty database gets it at once, at the newest revision (decision 129)."""

revision = "0012"
down_revision = None
# Of the schema at this revision, for `tools/tests/test_migrations.py`.
schema_digest = "aff174466b8bafe553b554ea5e252286e79718e078ac0a45b5e9843eff712f7e"
