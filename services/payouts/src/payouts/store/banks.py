"""SQL for the gateway's own list of banks. No decision is made here."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from common.database.unit_of_work import UnitOfWork
from payouts.domain.bank_accounts import Bank

_LISTED_SINCE: Final = "SELECT EXISTS (SELECT FROM gateway_banks WHERE gateway = $1 AND listed_at > $2)"
_SAVE: Final = """
INSERT INTO gateway_banks (gateway, code, name, listed_at)
SELECT $1, bank.code, bank.name, $4 FROM unnest($2::text[], $3::text[]) AS bank (code, name) ORDER BY bank.code
ON CONFLICT (gateway, code) DO UPDATE SET name = excluded.name, listed_at = excluded.listed_at
"""
_REMOVE_UNLISTED: Final = "DELETE FROM gateway_banks WHERE gateway = $1 AND listed_at < $2"


async def are_listed_since(uow: UnitOfWork, gateway: str, since: datetime) -> bool:
    """Return whether the gateway's list was stored after that instant."""
    listed: bool = await uow.fetch_value(_LISTED_SINCE, gateway, since)
    return listed


async def replace_banks(uow: UnitOfWork, gateway: str, banks: Sequence[Bank], at: datetime) -> None:
    """Store the whole list, and removes the banks that it lacks."""
    await uow.execute(_SAVE, gateway, [bank.code for bank in banks], [bank.name for bank in banks], at)
    await uow.execute(_REMOVE_UNLISTED, gateway, at)
