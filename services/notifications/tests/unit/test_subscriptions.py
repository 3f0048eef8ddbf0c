"""What is heard is what the broker's map says."""

from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS as MAP
from contracts.topology import WORK_QUEUES
from notifications.consumers import SUBSCRIPTIONS, WORK


def test_the_service_hears_what_the_map_of_the_broker_says():
    heard = dict.fromkeys(line.event for line in SUBSCRIPTIONS)
    assert set(heard) == set(MAP["notifications"]) - {SessionRevoked}


def test_every_handler_has_a_name_of_its_own_in_the_inbox():
    names = [line.consumer for line in SUBSCRIPTIONS]
    assert len(names) == len(set(names))


def test_work_goes_through_a_queue_of_the_map():
    assert {item.queue for item in WORK} <= set(WORK_QUEUES)
