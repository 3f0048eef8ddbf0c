"""Shared parts of crash points, races and the simulation: the gateway's webhooks, commands, and steps made of
functions.
"""

from collections.abc import Iterator
from random import Random
from typing import Annotated, Any, Literal
from uuid import uuid4

import httpx
import pytest

from lab.simulation.run import OrderRecord, Run
from lab.simulation.step import ABSENT, Order, chosen, step
from lab.stepped.actions import Command
from lab.stepped.actors import User
from lab.stepped.webhooks import WebhookQueue
from lab.stepped.wrappers import PROVIDER_CALLS


class Sandbox:
    """The webhooks of a gateway, newest first, and how often they were listed."""

    def __init__(self) -> None:
        self.webhooks: list[dict[str, Any]] = []
        self.listings = 0

    def send(self, reference: str) -> None:
        number = len(self.webhooks) + 1
        line = {"id": number, "event": "charge.success", "reference": reference, "body": f"{reference} {number}"}
        self.webhooks.insert(0, line)
        PROVIDER_CALLS.count += 1

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.listings += 1
        return httpx.Response(200, json=self.webhooks[: int(request.url.params["limit"])])


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    before = PROVIDER_CALLS.count
    yield Sandbox()
    PROVIDER_CALLS.count = before


@pytest.fixture
def webhooks(sandbox: Sandbox) -> WebhookQueue:
    client = httpx.AsyncClient(base_url="http://sandbox", transport=httpx.MockTransport(sandbox.respond))
    return WebhookQueue(lambda: client)


async def test_webhooks_wait_in_their_order_and_are_listed_after_calls_only(
    sandbox: Sandbox, webhooks: WebhookQueue
) -> None:
    for number in range(120):
        sandbox.send(f"ch-{number}")
    assert [webhook.id for webhook in await webhooks.waiting()] == list(range(1, 121))
    listings = sandbox.listings
    assert len(await webhooks.waiting()) == 120
    assert sandbox.listings == listings


async def test_a_claimed_webhook_waits_no_more(sandbox: Sandbox, webhooks: WebhookQueue) -> None:
    for reference in ("ch-1", "ch-2", "ch-1"):
        sandbox.send(reference)
    assert await webhooks.claim("ch-1") == b"ch-1 3"
    assert [webhook.reference for webhook in await webhooks.waiting()] == ["ch-2"]
    assert [webhook.reference for webhook in await webhooks.claim_all()] == ["ch-2"]
    sandbox.send("ch-1")
    assert [webhook.id for webhook in await webhooks.waiting()] == [4]


def test_a_command_fills_in_the_facts_that_it_names() -> None:
    command = Command("/api/orders/{id}/verify-delivery", {"pin": "pin", "reason": "as planned"})
    facts = {"id": "o", "pin": "123456"}
    assert command.path_of(facts) == "/api/orders/o/verify-delivery"
    assert command.body_of(facts) == {"pin": "123456", "reason": "as planned"}


@step("the {by} moves order {order} by {hops}")
async def move(run: Run, order: Order, by: Literal["buyer", "vendor"], hops: Annotated[int, range(3, 5)]) -> str:
    return f"{order.id} {by} {chosen(hops, order.references)}"


def run_of(*references: str) -> Run:
    order = OrderRecord("o", User(uuid4()), ("i",), 1, references=list(references))
    return Run(None, (), (), User(uuid4()), orders={0: order})  # type: ignore[arg-type]


async def test_a_step_is_made_of_a_function_and_its_annotations() -> None:
    made = move(0, "buyer", hops=3)
    assert made == move(0, "buyer", 3) != move(1, "buyer", 3)
    assert made.sentence == "the buyer moves order 0 by 3"
    assert await made.run(run_of("r0", "r1")) == "o buyer r1"


async def test_a_step_without_its_subject_does_nothing() -> None:
    assert await move(1, "buyer", 3).run(run_of("r0")) == ABSENT
    assert await move(0, "buyer", 3).run(run_of()) == ABSENT


def test_a_drawn_step_keeps_the_given_values() -> None:
    drawn = {move.draw(Random(seed), order=2).values for seed in range(50)}
    assert drawn == {(2, by, hops) for by in ("buyer", "vendor") for hops in (3, 4)}
