"""The names of the banks on pages of other services."""

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest

from console.api import ApiProblem
from console.banks import names_of_banks
from console.visit import Visit


def visit_with(result: Any) -> Visit:
    api = SimpleNamespace(get=AsyncMock(side_effect=[result]))
    return cast("Visit", SimpleNamespace(api=api))


async def test_a_page_shows_codes_while_payouts_does_not_respond() -> None:
    assert await names_of_banks(visit_with([{"code": "058", "name": "GTBank"}])) == {"058": "GTBank"}
    assert await names_of_banks(visit_with(ApiProblem(503, {}))) == {}
    with pytest.raises(ApiProblem):
        await names_of_banks(visit_with(ApiProblem(429, {})))
