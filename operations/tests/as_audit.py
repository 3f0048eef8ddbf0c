"""Rows of the audited databases, and statements with the rights of the audit's login."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import asyncpg


@asynccontextmanager
async def as_audit(databases: Mapping[str, asyncpg.Connection]) -> AsyncIterator[None]:
    """Read as `campus_audit` over connections of the administrator, also within their transactions."""
    for connection in databases.values():
        await connection.execute("SET ROLE campus_audit")
    try:
        yield
    finally:
        for connection in databases.values():
            await connection.execute("RESET ROLE")


class AuditedDatabases:
    """Connections by service, past every guard."""

    databases: dict[str, asyncpg.Connection]

    async def insert(self, service: str, table: str, **values: Any) -> None:
        places = ", ".join(f"${place}" for place in range(1, len(values) + 1))
        await self.databases[service].execute(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", *values.values()
        )

    async def entry(self, service: str, type_: str, key: str, *entries: tuple[str, int]) -> None:
        """Insert a transaction of the ledger with its entries: account and amount in kobo."""
        known = {"posting_key": key, "currency": "NGN", "content_hash": b"x"}
        transaction_id = uuid4()
        await self.insert(service, "ledger_transactions", id=transaction_id, type=type_, **known)
        for account, amount in entries:
            values = {"account": account, "amount_minor": amount, "currency": "NGN"}
            await self.insert(service, "ledger_entries", transaction_id=transaction_id, **values)
