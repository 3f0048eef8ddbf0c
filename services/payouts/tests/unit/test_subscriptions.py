from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS as MAP
from contracts.topology import WORK_QUEUES
from payouts.consumers import SUBSCRIPTIONS, WORK


def test_the_subscriptions_equal_the_topology() -> None:
    assert {line.event for line in SUBSCRIPTIONS} == set(MAP["payouts"]) - {SessionRevoked}
    assert len({line.consumer for line in SUBSCRIPTIONS}) == len(SUBSCRIPTIONS)
    assert {line.queue for line in WORK} == {queue for queue in WORK_QUEUES if queue.startswith("payouts.")}
