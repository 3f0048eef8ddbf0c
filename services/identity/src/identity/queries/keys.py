"""Signing keys."""

from collections.abc import Mapping
from typing import Any, Final

from common.database.unit_of_work import UnitOfWork

_PUBLIC_KEYS: Final = "SELECT public_key FROM signing_keys WHERE retired_at IS NULL ORDER BY signs_from DESC, kid DESC"


async def list_public_keys(uow: UnitOfWork) -> list[Mapping[str, Any]]:
    """Return the public halves of the next, current and previous keys, newest first."""
    return [row["public_key"] for row in await uow.fetch(_PUBLIC_KEYS)]
