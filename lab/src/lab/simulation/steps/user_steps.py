"""Steps of users about their accounts."""

from dataclasses import dataclass
from typing import Annotated

from lab.simulation.steps.step import ABSENT, Step
from lab.simulation.story import Story


@dataclass(frozen=True, slots=True)
class RequestErasure(Step):
    text = "buyer {buyer} requests the erasure of the account"
    buyer: Annotated[int, range(2)]

    async def run(self, story: Story) -> str:
        if not story.market.has_everyone:
            return ABSENT
        response = await story.market.request("DELETE", "/api/profiles/current", story.buyers[self.buyer], {})
        return str(response.status_code)
