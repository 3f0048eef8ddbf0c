"""The webhooks of a gateway in a period."""

from typing import Final

WEBHOOKS_OF_GATEWAY: Final = """
SELECT jsonb_build_object('at', processed_at, 'what', 'webhook ' || event_type,
    'detail', jsonb_build_object('id', id, 'outcome', outcome))::text
FROM processed_webhook_events WHERE processed_at BETWEEN $1 AND $2 AND gateway = $3 ORDER BY processed_at, id
"""
