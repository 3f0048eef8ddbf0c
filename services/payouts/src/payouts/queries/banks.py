"""Reads of the banks: the gateway's own list, else the shipped one."""

from typing import Final

from common.database.unit_of_work import Reads, UnitOfWork
from common.web.response_models import Row
from payouts.domain.bank_accounts import BANK_NAMES
from payouts.responses.banks import Bank

_FIND_BANK: Final = """
SELECT (SELECT name FROM gateway_banks WHERE gateway = $1 AND code = $2) AS name,
       EXISTS (SELECT FROM gateway_banks WHERE gateway = $1) AS is_listed
"""
# A gateway lists a few hundred.
_LIST_BANKS: Final = "SELECT code, name FROM gateway_banks WHERE gateway = $1 ORDER BY name, code LIMIT 2000"

BANK_NAME: Final = (
    "(SELECT name FROM gateway_banks WHERE code = v.bank_code ORDER BY listed_at DESC LIMIT 1) AS bank_name"
)
"""A column of statements that read `bank_detail_versions` as `v`; `bank_name_of` reads it."""


def bank_name_of(row: Row) -> str | None:
    """Return the name of the row's bank: the gateway's own, else the shipped one; None for an unknown code."""
    name: str | None = row["bank_name"] or BANK_NAMES.get(row["bank_code"])
    return name


async def list_banks(reads: Reads, gateway: str) -> list[Bank]:
    """Return the banks by name: the gateway's own list, else the shipped one."""
    rows = await reads.fetch(_LIST_BANKS, gateway)
    if rows:
        return [Bank.from_row(row) for row in rows]
    return [Bank(code=code, name=name) for code, name in sorted(BANK_NAMES.items(), key=lambda bank: bank[1])]


async def find_bank_name(uow: UnitOfWork, gateway: str, bank_code: str) -> str | None:
    """Return the bank's name; None for a code that the gateway does not list."""
    row = await uow.fetch_row(_FIND_BANK, gateway, bank_code)
    if row is None or not row["is_listed"]:
        return BANK_NAMES.get(bank_code)
    name: str | None = row["name"]
    return name
