"""The tables of this library in a service's database, each group with its SQL of `common.migrations`.

Only migrations need SQLAlchemy. Running processes do not import it, which saves 20 MiB each and a sixth of a second at
the start.
"""

from collections.abc import Collection
from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from common.migrations.audit_grants import AUDIT_READS
from common.migrations.schema import SERVICE, SHARED_SQL, SharedSql


def service_metadata(service: str, audit_reads: Collection[str] = ()) -> sa.MetaData:
    """Return the metadata of a service's database, with the tables of messaging. `service` is the name in its roles."""
    shared = [SharedSql("roles", before_tables=True), SharedSql("messaging")]
    metadata = sa.MetaData(info={SERVICE: service, SHARED_SQL: shared, AUDIT_READS: audit_reads})
    _attach_messaging_tables(metadata)
    return metadata


def attach_row_numbers(metadata: sa.MetaData, table: str, kind: str, prefix: str) -> None:
    """Add the function `new_<kind>_number`, the default of a column `number` with a check of its form."""
    values = {"table": table, "kind": kind, "prefix": prefix}
    metadata.info[SHARED_SQL].append(SharedSql("row_numbers", values, before_tables=True))


def known(table: str, column: str, values: object, *, name: str | None = None) -> sa.CheckConstraint:
    """Return the check that a column has one of the values of a `Literal`."""
    listed = ", ".join(f"'{value}'" for value in get_args(values))
    return sa.CheckConstraint(f"{column} IN ({listed})", name=name or f"{table}_{column}_known")


def decided_by_two(table: str) -> list[sa.Column[Any] | sa.CheckConstraint]:
    """Return the columns of a decision that one user prepares and another one makes, and the rule that they are two."""
    return [
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("prepared_by", sa.Uuid, nullable=False),
        sa.Column("prepared_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("decided_by", sa.Uuid),
        sa.Column("decided_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("rejection", sa.Text),
        sa.CheckConstraint("decided_by <> prepared_by", name=f"{table}_by_two"),
    ]


def _attach_messaging_tables(metadata: sa.MetaData) -> None:
    """Outbox, inbox, dead letters with their closures, and received session revocations."""
    sa.Table(
        "outbox",
        metadata,
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("id", sa.Uuid, nullable=False),
        sa.Column("queue", sa.Text),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("trace", JSONB, nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("next_attempt_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("published_at", sa.TIMESTAMP(timezone=True)),
        sa.Index("outbox_waiting", "position", postgresql_where=sa.text("published_at IS NULL")),
        sa.Index("outbox_published", "published_at", postgresql_where=sa.text("published_at IS NOT NULL")),
    )
    sa.Table(
        "outbox_sequences",
        metadata,
        sa.Column("subject", sa.Text, primary_key=True),
        sa.Column("last", sa.BigInteger, nullable=False),
        # The day of the last event: an index entry is written once a day.
        sa.Column(
            "used_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("date_trunc('day', now())")
        ),
        sa.Index("outbox_sequences_idle", "used_at"),
    )
    sa.Table(
        "inbox",
        metadata,
        sa.Column("event_id", sa.Uuid, primary_key=True),
        sa.Column("consumer", sa.Text, primary_key=True),
        sa.Column("handled_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Index("inbox_handled", "handled_at"),
    )
    sa.Table(
        "dead_letters",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("queue", sa.Text, nullable=False),
        sa.Column("event_id", sa.Uuid),
        sa.Column("event_type", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("headers", JSONB, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("failed_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Column("replayed_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("closed_at", sa.TIMESTAMP(timezone=True)),
        sa.Column(
            "resolved_at", sa.TIMESTAMP(timezone=True), sa.Computed("coalesce(replayed_at, closed_at)", persisted=True)
        ),
        sa.CheckConstraint("num_nulls(replayed_at, closed_at) > 0", name="dead_letters_resolved_once"),
        sa.Index("dead_letters_newest", sa.text("failed_at DESC"), sa.text("id DESC")),
        sa.Index("dead_letters_of_event", "event_id"),
    )
    sa.Table(
        "dead_letter_closures",
        metadata,
        sa.Column("dead_letter_id", sa.Uuid, primary_key=True),
        sa.Column("queue", sa.Text, nullable=False),
        sa.Column("event_type", sa.Text, nullable=False),
        sa.Column("closed_by", sa.Uuid, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("closed_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Index("dead_letter_closures_of_staff", "closed_by", "closed_at"),
    )
    # What staff did to a dead letter before its end. `replayed` has no reason.
    sa.Table(
        "dead_letter_actions",
        metadata,
        sa.Column("dead_letter_id", sa.Uuid, primary_key=True),
        sa.Column("action", sa.Text, primary_key=True),
        sa.Column("queue", sa.Text, nullable=False),
        sa.Column("event_type", sa.Text, nullable=False),
        sa.Column("acted_by", sa.Uuid, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("acted_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.CheckConstraint("action IN ('replayed', 'closure_requested')", name="dead_letter_actions_known"),
        sa.CheckConstraint(
            "(reason IS NULL) = (action = 'replayed')", name="dead_letter_actions_request_has_its_reason"
        ),
        sa.Index("dead_letter_actions_of_staff", "acted_by", "acted_at"),
    )
    sa.Table(
        "session_revocations",
        metadata,
        sa.Column("user_id", sa.Uuid, nullable=False),
        sa.Column("session_id", sa.Uuid),
        sa.Column("not_before", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("heard_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.Index("session_revocations_heard", "heard_at"),
    )


def attach_idempotent_commands(metadata: sa.MetaData) -> None:
    """Add the idempotency keys of commands, with the resource of each."""
    metadata.info[SHARED_SQL].append(SharedSql("idempotent_commands"))
    sa.Table(
        "idempotent_commands",
        metadata,
        sa.Column("user_id", sa.Uuid, primary_key=True),
        sa.Column("idempotency_key", sa.Uuid, primary_key=True),
        sa.Column("fingerprint", sa.LargeBinary, nullable=False),
        sa.Column("resource_id", sa.Uuid, nullable=False),
        sa.Column("recorded_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
    )


def attach_operation_stops(metadata: sa.MetaData) -> None:
    """Add the switch by which staff on call stop an operation of the service until an instant."""
    metadata.info[SHARED_SQL].append(SharedSql("operation_stops"))
    sa.Table(
        "operation_stops",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("stopped_by", sa.Uuid, nullable=False),
        sa.Column("stopped_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("lifted_by", sa.Uuid),
        sa.Column("lifted_at", sa.TIMESTAMP(timezone=True)),
        sa.Column("lift_reason", sa.Text),
        sa.CheckConstraint("expires_at > stopped_at", name="operation_stops_expires_later"),
        sa.CheckConstraint(
            "num_nonnulls(lifted_by, lifted_at, lift_reason) IN (0, 3)", name="operation_stops_lifted_by"
        ),
        sa.Index("operation_stops_newest", "stopped_at"),
    )


def attach_document_tables(metadata: sa.MetaData) -> None:
    """Add numbered documents with their frozen content, and the last number of each vendor and kind."""
    metadata.info[SHARED_SQL].append(SharedSql("documents"))
    sa.Table(
        "document_counters",
        metadata,
        sa.Column("vendor_id", sa.Uuid, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("last", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "issued_documents",
        metadata,
        sa.Column("subject_id", sa.Uuid, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("vendor_id", sa.Uuid, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("recipient_id", sa.Uuid),
        sa.Column("content", JSONB, nullable=False),
        sa.Column("recipient_encrypted", sa.Text, nullable=False),
        sa.Column("issued_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.UniqueConstraint("vendor_id", "kind", "number", name="issued_documents_number_once"),
        sa.Index("issued_documents_of_recipient", "recipient_id", postgresql_where=sa.text("recipient_id IS NOT NULL")),
    )


def attach_media_cleanup_tables(metadata: sa.MetaData) -> None:
    """Images that are due for removal from their store."""
    sa.Table(
        "leaving_pictures",
        metadata,
        sa.Column("picture_id", sa.Uuid, primary_key=True),
        sa.Column("owner_id", sa.Uuid, nullable=False),
        sa.Column("leave_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("claimed_until", sa.TIMESTAMP(timezone=True)),
        sa.Index("leaving_pictures_due", "leave_at"),
    )


def attach_ledger_tables(metadata: sa.MetaData) -> None:
    """Add the double-entry ledger, its hash chain and the list of its accounts."""
    metadata.info[SHARED_SQL].append(SharedSql("ledger"))
    sa.Table(
        "ledger_transactions",
        metadata,
        sa.Column("id", sa.Uuid, primary_key=True),
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("posting_key", sa.Text, nullable=False),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("content_hash", sa.LargeBinary, nullable=False),
        sa.Column("created_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.UniqueConstraint("posting_key", name="ledger_transactions_posting_key_once"),
        sa.Index("ledger_transactions_newest", sa.text("created_at DESC"), sa.text("id DESC")),
    )
    sa.Table(
        "ledger_entries",
        metadata,
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column(
            "transaction_id",
            sa.Uuid,
            sa.ForeignKey("ledger_transactions.id", name="ledger_entries_transaction"),
            nullable=False,
        ),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("amount_minor", sa.BigInteger, nullable=False),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.CheckConstraint("amount_minor <> 0", name="ledger_entries_say_something"),
        sa.Index("ledger_entries_of_transaction", "transaction_id"),
        sa.Index("ledger_entries_of_account", "account", postgresql_include=["amount_minor"]),
    )
    sa.Table(
        "ledger_balances",
        metadata,
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("side", sa.Text, nullable=False),
        sa.Column("balance_minor", sa.BigInteger, nullable=False),
        sa.CheckConstraint("side IN ('debit', 'credit')", name="ledger_balances_side_known"),
    )

    # Postings without a link. A set, not a watermark, so that a posting that commits late is never skipped.
    sa.Table(
        "ledger_unsealed",
        metadata,
        sa.Column("position", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("transaction_id", sa.Uuid, nullable=False),
        sa.Column("posted_at", sa.TIMESTAMP(timezone=True), nullable=False),
    )
    sa.Table(
        "ledger_links",
        metadata,
        sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("transaction_id", sa.Uuid, nullable=False),
        sa.Column("link", sa.LargeBinary, nullable=False),
        sa.Column("sealed_at", sa.TIMESTAMP(timezone=True), nullable=False, server_default=sa.text("now()")),
        sa.UniqueConstraint("transaction_id", name="ledger_links_transaction_once"),
    )
    # The end of the chain, in a single row whose lock makes one of several workers extend the chain.
    sa.Table(
        "ledger_chain",
        metadata,
        sa.Column("the_only", sa.Boolean, primary_key=True, server_default=sa.text("true")),
        sa.Column("length", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("head", sa.LargeBinary, nullable=False, server_default=sa.text("sha256('')")),
        sa.Column("verify_at", sa.TIMESTAMP(timezone=True)),
        sa.CheckConstraint("the_only", name="ledger_chain_is_one"),
    )
    # Every account since its first entry, so that a list of accounts need not group all entries.
    sa.Table(
        "ledger_accounts",
        metadata,
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False),
        sa.Column("currency", sa.CHAR(3), nullable=False),
        sa.Column("opened_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Index("ledger_accounts_in_order", "position"),
        sa.Index("ledger_accounts_by_prefix", "account", postgresql_ops={"account": "text_pattern_ops"}),
    )
