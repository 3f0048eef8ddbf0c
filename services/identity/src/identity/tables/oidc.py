"""Sign-in by institutions' identity providers."""

import sqlalchemy as sa

from identity.tables.metadata import INSTANT, metadata

# A sign-in between the redirect to the provider and its callback, which deletes the row.
sa.Table(
    "oidc_flows",
    metadata,
    sa.Column("state_hash", sa.LargeBinary, primary_key=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("return_to", sa.Text, nullable=False),
    sa.Column("expires_at", INSTANT, nullable=False),
    # Of a program that returns to its own machine: its code is exchanged with the verifier only (RFC 7636).
    sa.Column("code_challenge", sa.Text),
    sa.Index("oidc_flows_expiry", "expires_at"),
)

# One account for each user of a provider, and the other way round: a mailbox that changes hands does not bring its
# next owner into the account.
sa.Table(
    "oidc_links",
    metadata,
    sa.Column("issuer", sa.Text, primary_key=True),
    sa.Column("sub", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="oidc_links_account"), nullable=False),
    sa.Column("linked_at", INSTANT, nullable=False),
    sa.UniqueConstraint("user_id", "issuer", name="oidc_links_one_of_issuer"),
)

# The one-time code of a finished sign-in, deleted by its exchange.
sa.Table(
    "oidc_codes",
    metadata,
    sa.Column("code_hash", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("accounts.user_id", name="oidc_codes_account"), nullable=False),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.Column("sub", sa.Text, nullable=False),
    sa.Column("sid", sa.Text),
    sa.Column("stepped_up_at", INSTANT),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Column("code_challenge", sa.Text),
    sa.Index("oidc_codes_of_user", "user_id"),
    sa.Index("oidc_codes_expiry", "expires_at"),
)

# The provider's session behind each of ours, which the provider's sign-out ends.
sa.Table(
    "oidc_sessions",
    metadata,
    sa.Column(
        "session_id",
        sa.Uuid,
        sa.ForeignKey("sessions.id", name="oidc_sessions_session", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.Column("sub", sa.Text, nullable=False),
    sa.Column("sid", sa.Text),
    sa.Index("oidc_sessions_of_subject", "issuer", "sub"),
    sa.Index("oidc_sessions_of_sid", "issuer", "sid", postgresql_where=sa.text("sid IS NOT NULL")),
)

# Logout tokens that were accepted, until they expire: each works once.
sa.Table(
    "oidc_logouts",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("expires_at", INSTANT, nullable=False),
    sa.Index("oidc_logouts_expiry", "expires_at"),
)
