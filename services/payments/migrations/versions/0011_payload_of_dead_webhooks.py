"""A dead webhook has its provider and its payload (contract section 7).

The API shows no payload: it holds names and addresses of payers.
"""

from typing import Final

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_UPGRADE: Final = (
    # The version before records neither: its gateway is the default of the webhooks' own table.
    """
    ALTER TABLE dead_letter_webhooks ADD COLUMN provider text NOT NULL DEFAULT 'paystack', ADD COLUMN payload jsonb,
        ADD CONSTRAINT dead_letter_webhooks_provider_known CHECK (provider IN ('paystack', 'flutterwave')) NOT VALID
    """,
    "ALTER TABLE dead_letter_webhooks VALIDATE CONSTRAINT dead_letter_webhooks_provider_known",
    """
    UPDATE dead_letter_webhooks AS dead SET provider = webhook.gateway, payload = webhook.payload
    FROM processed_webhook_events AS webhook WHERE webhook.id = dead.webhook_id
    """,
    "REVOKE SELECT ON dead_letter_webhooks FROM campus_payments_api",
    """
    GRANT SELECT (id, webhook_id, event_type, error, attempts, failed_at, replayed_at, provider)
        ON dead_letter_webhooks TO campus_payments_api
    """,
)
_DOWNGRADE: Final = (
    "ALTER TABLE dead_letter_webhooks DROP COLUMN payload, DROP COLUMN provider",
    "GRANT SELECT ON dead_letter_webhooks TO campus_payments_api",
)


def upgrade() -> None:
    for statement in _UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in _DOWNGRADE:
        op.execute(statement)
