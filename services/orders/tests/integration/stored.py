"""The service's own transactions, for the tests of the stores."""

from typing import Any

from common.auth.caller import THE_SERVICE

from .conftest import Market


def unit_of_work(market: Market) -> Any:
    return market.app.runtime.database.unit_of_work(acting_as=THE_SERVICE)
