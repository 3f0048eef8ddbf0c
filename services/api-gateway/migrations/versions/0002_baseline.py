"""The schema of `tables.py` and the shared SQL: an empty database gets it at once, at the newest revision
(decision 129).
"""

revision = "0002"
down_revision = None
# Of the schema at this revision, for `tools/tests/test_migrations.py`.
schema_digest = "8a604db930293a84638494668b501cb663f992a92e56e14011f81ef31040441c"
