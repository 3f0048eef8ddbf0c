"""What is away is said when it begins and when it is over, not at every try."""

import pytest
from structlog.testing import capture_logs

from common.observability.logging import get_logger
from common.observability.outages import Outage


@pytest.fixture
def outage():
    return Outage(get_logger(__name__), "thing away", "thing back", name="it")


def test_an_outage_is_said_once_however_often_it_is_met_and_once_more_when_it_is_over(outage):
    with capture_logs() as logged:
        outage.ended()
        for _ in range(1_000):
            outage.failed(ConnectionRefusedError("no"))
        outage.ended()
        outage.ended()
    assert [line["event"] for line in logged] == ["thing away", "thing back"]
    assert (logged[0]["error"], logged[0]["name"]) == ("ConnectionRefusedError('no')", "it")
    assert logged[1]["tries"] == 1_000


def test_what_comes_and_goes_is_not_said_each_time(outage):
    with capture_logs() as logged:
        for _ in range(100):
            outage.failed(ConnectionRefusedError())
            outage.ended()
    assert len(logged) == 2


def test_where_a_bug_is_stands_in_the_log_and_where_a_server_is_away_does_not(outage):
    with capture_logs() as logged:
        outage.failed(ValueError("x"), is_bug=True)
        Outage(get_logger(__name__), "server away", "server back").failed(ConnectionRefusedError())
    assert ["exc_info" in line for line in logged] == [True, False]
