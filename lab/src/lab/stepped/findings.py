"""The verdict on a marketplace that is idle: the audit, and what nothing will ever finish."""

from collections.abc import Iterable, Mapping
from typing import Final

import asyncpg

from lab.stepped.processes import Process
from operations.audit.access import AUDITED
from operations.audit.gateway import Gateway
from operations.audit.report import check_once

_DEAD_LETTERS: Final = "SELECT id, queue, error FROM dead_letters WHERE resolved_at IS NULL"
_DEAD_LETTER_WEBHOOKS: Final = "SELECT id, event_type FROM processed_webhook_events WHERE outcome = 'dead'"


async def findings_of(
    databases: Mapping[str, asyncpg.Connection], gateway: Gateway, processes: Iterable[Process]
) -> set[str]:
    """Return the audit of all services, and messages or claims that nothing will ever finish."""
    report = await check_once({name: databases[name] for name in AUDITED}, gateway)
    found = {
        f"{finding.kind}: {finding.where}: {finding.rule}: {row}" for finding in report.findings for row in finding.rows
    }
    if report.not_compared is not None:
        found.add(f"not compared: {report.not_compared}")
    for service, connection in databases.items():
        if service == "api-gateway":
            continue
        for row in await connection.fetch(_DEAD_LETTERS):
            found.add(f"dead letter: {service}: {row['queue']}: {row['id']}: {row['error']}")
    for row in await databases["payments"].fetch(_DEAD_LETTER_WEBHOOKS):
        found.add(f"dead-letter webhook: {row['event_type']}: {row['id']}")
    for process in processes:
        if process.bus is not None and process.bus.held_queues:
            found.add(f"without acknowledgement: {process.name}: {sorted(process.bus.held_queues)}")
    return found
