"""Steps of the schedule: messages, webhooks, timers and time."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal

from lab.simulation.steps.step import ABSENT, Pick, Step, chosen
from lab.simulation.story import Story


@dataclass(frozen=True, slots=True)
class Relay(Step):
    text = "a relay publishes"
    pick: Pick

    async def run(self, story: Story) -> str:
        name = chosen(self.pick, story.market.relays())
        if name is None:
            return ABSENT
        await story.market.relay(name)
        return str(name)


@dataclass(frozen=True, slots=True)
class DeliverMessages(Step):
    text = "up to {count} messages of a queue are delivered, in another order"
    pick: Pick
    first: Annotated[int, range(4)]
    count: Annotated[int, range(1, 4)]

    async def run(self, story: Story) -> str:
        queue = chosen(self.pick, story.market.broker.waiting())
        if queue is None:
            return ABSENT
        types = [message.type for message in story.market.broker.ready[queue]]
        delivered = await story.market.deliver(queue, (self.first,) * self.count)
        return f"{delivered} of {queue}: {', '.join(types)}"


@dataclass(frozen=True, slots=True)
class DeliverTwice(Step):
    text = "a message is in its queue twice"
    pick: Pick
    message: Annotated[int, range(4)]

    async def run(self, story: Story) -> str:
        queue = chosen(self.pick, story.market.broker.waiting())
        if queue is None:
            return ABSENT
        story.market.broker.duplicate(queue, self.message)
        return str(queue)


@dataclass(frozen=True, slots=True)
class HoldQueue(Step):
    text = "a queue delivers nothing for {minutes} minutes"
    pick: Pick
    minutes: Literal[1, 20, 600]

    async def run(self, story: Story) -> str:
        queue = chosen(self.pick, sorted(story.market.broker.consumed))
        story.market.broker.hold(queue, story.market.clock.now() + timedelta(minutes=self.minutes))
        return str(queue)


@dataclass(frozen=True, slots=True)
class SendWebhook(Step):
    text = "the gateway sends a webhook {how}"
    pick: Pick
    how: Literal["once", "twice", "and again later"]

    async def run(self, story: Story) -> str:
        webhook = chosen(self.pick, await story.market.webhooks.waiting())
        if webhook is None:
            return ABSENT
        for _ in range(2 if self.how == "twice" else 1):
            await story.market.send_webhook(webhook.body)
        if self.how != "and again later":
            story.market.webhooks.discard(webhook)
        return str(webhook.event)


@dataclass(frozen=True, slots=True)
class DropWebhook(Step):
    text = "a webhook is lost"
    pick: Pick

    async def run(self, story: Story) -> str:
        webhook = chosen(self.pick, await story.market.webhooks.waiting())
        if webhook is None:
            return ABSENT
        story.market.webhooks.discard(webhook)
        return str(webhook.event)


@dataclass(frozen=True, slots=True)
class RunTimer(Step):
    text = "a timer runs"
    pick: Pick

    async def run(self, story: Story) -> str:
        name, timer = chosen(self.pick, story.market.timers())
        error = await story.market.run_timer(name, timer)
        return f"{name}: {timer}" + (f": {error}" if error else "")


@dataclass(frozen=True, slots=True)
class Wait(Step):
    text = "{minutes} minutes pass"
    minutes: Literal[1, 5, 30, 120]

    async def run(self, story: Story) -> str:
        story.market.clock.advance(timedelta(minutes=self.minutes))
        return "ok"


@dataclass(frozen=True, slots=True)
class PassDays(Step):
    text = "{days} days pass with all timers"
    days: Literal[1, 4, 8, 15]

    async def run(self, story: Story) -> str:
        return "; ".join(await story.market.pass_time(timedelta(days=self.days))) or "ok"


@dataclass(frozen=True, slots=True)
class DeliverEverything(Step):
    text = "everything is published and delivered"

    async def run(self, story: Story) -> str:
        await story.market.run_until_idle()
        return "ok"
