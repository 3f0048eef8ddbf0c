"""File the gateway's response to a query as a webhook of its own."""

import json
from collections.abc import Mapping
from typing import Any

from common.database.unit_of_work import Database
from payments.domain.revisions import identify_response
from payments.use_cases.webhooks.file_webhook import file_webhook


async def file_gateway_response(database: Database, event_type: str, response: Mapping[str, Any]) -> bool:
    """Whether the response is new. A response of the same content is processed once.

    Its key differs from every webhook's, so that the webhook itself is still filed when it arrives.
    """
    raw = json.dumps({"event": event_type, "data": response}).encode()
    return await file_webhook(database, identify_response(event_type, raw), raw, is_json=True)
