"""Uses of a secret in a period: `audit:` lines of logs, and rows of webhooks and staff actions."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final


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


ROWS: Final = {
    "gateway-secret-key": ("payments", "webhook-trail", "paystack"),
    "flutterwave-webhook-hash": ("payments", "webhook-trail", "flutterwave"),
    "jwt-signing-keys": ("identity", "action-trail"),
}
"""The service commands that list rows which a stolen secret could have caused: webhooks by a forged signature, staff
actions by a forged token.
"""


def rows_in(output: str, service: str) -> Iterator[dict[str, Any]]:
    """Yield the rows that a command of `ROWS` printed."""
    for text in output.splitlines():
        line = json.loads(text)
        yield {"at": line["at"], "where": service, "what": line["what"], "detail": line["detail"]}
