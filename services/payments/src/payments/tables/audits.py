"""Audits of all services."""

import sqlalchemy as sa

from common.database.tables import known
from payments.domain.audits import FindingKind, Verdict
from payments.tables.metadata import INSTANT, metadata, required

sa.Table(
    "audits",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("started_at", INSTANT),
    required("finished_at", INSTANT),
    required("verdict", sa.Text),
    sa.Column("gateway_reason", sa.Text),
    required("recorded_at", INSTANT),
    sa.CheckConstraint("finished_at >= started_at", name="audits_end_after_their_start"),
    known("audits", "verdict", Verdict),
    sa.Index("audits_newest", "started_at", "id"),
)

sa.Table(
    "audit_findings",
    metadata,
    sa.Column("audit_id", sa.Uuid, sa.ForeignKey("audits.id", name="audit_findings_audit"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    required("check_name", sa.Text),
    required("kind", sa.Text),
    required("subject", sa.Text),
    required("expected", sa.Text),
    required("actual", sa.Text),
    known("audit_findings", "kind", FindingKind),
)
