"""An outage is logged at its start and its end, not at every attempt."""

import pytest
from structlog.testing import capture_logs

from common.observability.logging import get_logger
from common.observability.outages import Outage


@pytest.fixture
def outage():
    return Outage(get_logger(__name__), "thing away", "thing back", name="it")


def test_an_outage_is_logged_at_its_start_and_its_end(outage) -> None:
    with capture_logs() as logged:
        outage.ended()
        for _ in range(1_000):
            outage.failed(ConnectionRefusedError("no"))
        outage.ended()
        outage.ended()
    assert [line["event"] for line in logged] == ["thing away", "thing back"]
    assert (logged[0]["error"], logged[0]["name"]) == ("ConnectionRefusedError('no')", "it")
    assert logged[1]["tries"] == 1_000


def test_short_repeated_outages_are_not_logged_each_time(outage) -> None:
    with capture_logs() as logged:
        for _ in range(100):
            outage.failed(ConnectionRefusedError())
            outage.ended()
    assert len(logged) == 2


def test_only_a_bug_is_logged_with_its_traceback(outage) -> None:
    with capture_logs() as logged:
        outage.failed(ValueError("x"), is_bug=True)
        Outage(get_logger(__name__), "server away", "server back").failed(ConnectionRefusedError())
    assert ["exc_info" in line for line in logged] == [True, False]
