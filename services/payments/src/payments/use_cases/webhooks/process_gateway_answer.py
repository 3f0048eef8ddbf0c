"""Record a gateway's answer as a webhook of its own, with the work of processing it."""

import json
from collections.abc import Mapping
from typing import Any

from common.database.unit_of_work import Database
from payments.domain.revisions import identify_answer
from payments.use_cases.webhooks.file_webhook import file_webhook


async def process_gateway_answer(database: Database, event_type: str, answer: Mapping[str, Any]) -> bool:
    """Whether it is new: an answer of the same content was recorded, and is processed once.

    Its key is no webhook's, so that the webhook itself is still recorded when it arrives, and neither is a revision of the other.
    """
    body = {"event": event_type, "data": answer}
    raw = json.dumps(body).encode()
    return await file_webhook(database, identify_answer(event_type, raw), raw, body)
