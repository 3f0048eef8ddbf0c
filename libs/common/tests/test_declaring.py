"""The declaration of the broker's queues while another provisioner declares the same ones."""

import pytest
from aio_pika.abc import AbstractChannel
from aiormq.exceptions import ChannelNotFoundEntity

from common.messaging import topology as declaring
from common.messaging.topology import Topology, declare_topology


class CreatedByAnother(Topology):
    """A topology with a queue that has no leader yet: so many declarations close their channel with NOT_FOUND."""

    not_found = 0

    async def declare(self, channel: AbstractChannel) -> None:
        if type(self).not_found:
            type(self).not_found -= 1
            await channel.declare_queue("tests.declaring.absent", passive=True)
        await super().declare(channel)


@pytest.fixture
def topology() -> CreatedByAnother:
    return CreatedByAnother("campus.events", "campus.public", {"tests.declaring": []})


async def test_a_queue_that_another_provisioner_creates_is_declared_again(broker_url, topology, monkeypatch) -> None:
    monkeypatch.setattr(CreatedByAnother, "not_found", 2)
    monkeypatch.setattr(declaring, "DECLARATION_PAUSE_SECONDS", 0.01)
    await declare_topology(broker_url, topology)
    assert CreatedByAnother.not_found == 0


async def test_a_queue_that_never_gets_a_leader_is_reported(broker_url, topology, monkeypatch) -> None:
    monkeypatch.setattr(CreatedByAnother, "not_found", 3)
    monkeypatch.setattr(declaring, "DECLARATION_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(declaring, "DECLARATIONS_MAX", 3)
    with pytest.raises(ChannelNotFoundEntity, match=r"tests\.declaring\.absent"):
        await declare_topology(broker_url, topology)
