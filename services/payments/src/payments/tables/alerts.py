"""Open alerts that the service clears by itself."""

import sqlalchemy as sa

from payments.tables.metadata import INSTANT, metadata, required

sa.Table("standing_alerts", metadata, sa.Column("dedup_key", sa.Text, primary_key=True), required("raised_at", INSTANT))
