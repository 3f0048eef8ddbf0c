"""Uses of a secret in a period: `audit:` lines of logs, and rows of webhooks and staff actions."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from operations.services import service_named

ROWS_MAX: Final = 10_000


def lines_of(texts: Iterable[str], since: datetime, until: datetime, named: str | None) -> Iterator[dict[str, Any]]:
    """Return the audit lines of structured logs in a period. `named`: only those about this fingerprint or key id."""
    for text in texts:
        if "audit: " not in text:
            continue
        try:
            line = json.loads(text[text.index("{") :])
            at = datetime.fromisoformat(line["at"])
        except (ValueError, KeyError, TypeError):
            continue
        is_meant = named is None or named in (line.get("fingerprint"), line.get("kid"))
        if str(line.get("event", "")).startswith("audit: ") and since <= at <= until and is_meant:
            yield {
                "at": line["at"],
                "where": line.get("service"),
                "what": str(line["event"]).removeprefix("audit: "),
                "detail": {
                    name: value
                    for name, value in line.items()
                    if name not in ("at", "event", "service", "level", "logger")
                },
            }


_WEBHOOKS: Final = """
SELECT processed_at AS at, 'webhook ' || event_type AS what, jsonb_build_object('id', id, 'outcome', outcome)::text AS detail
FROM processed_webhook_events WHERE gateway = '{gateway}' AND processed_at BETWEEN $1 AND $2 ORDER BY processed_at LIMIT $3
"""
_STAFF_ACTIONS: Final = """
SELECT created_at AS at, 'staff act ' || act AS what,
    jsonb_build_object('actor', actor_id, 'kind', subject_kind, 'subject', subject_id)::text AS detail
FROM staff_acts WHERE created_at BETWEEN $1 AND $2 ORDER BY created_at LIMIT $3
"""
KEPT: Final = {
    "gateway-secret-key": ("payments", _WEBHOOKS.replace("{gateway}", "paystack")),
    "flutterwave-webhook-hash": ("payments", _WEBHOOKS.replace("{gateway}", "flutterwave")),
    "jwt-signing-keys": ("identity", _STAFF_ACTIONS),
}
"""Rows that a stolen secret could have caused: webhooks by a forged signature, staff actions by a forged token."""


async def rows_of(audit_url: str, secret: str, since: datetime, until: datetime) -> list[dict[str, Any]]:
    """Return the rows that this secret could have caused, oldest first; at most `ROWS_MAX`."""
    if secret not in KEPT:
        return []
    name, statement = KEPT[secret]
    address = urlsplit(audit_url)
    connection = await asyncpg.connect(urlunsplit(address._replace(path=f"/{service_named(name).database}")))
    try:
        rows = await connection.fetch(statement, since, until, ROWS_MAX)
    finally:
        await connection.close()
    return [
        {"at": row["at"].isoformat(), "where": name, "what": row["what"], "detail": json.loads(row["detail"])}
        for row in rows
    ]
