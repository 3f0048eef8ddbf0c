"""The service's own transactions, for the tests of the stores."""

from typing import Any

from common.auth.caller import THE_SERVICE

from .conftest import PaymentsApp


def unit_of_work(app: PaymentsApp) -> Any:
    return app.service.runtime.database.unit_of_work(acting_as=THE_SERVICE)
