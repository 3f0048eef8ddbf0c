"""The work that this service leaves for its own worker."""

from typing import TYPE_CHECKING, Any, Final

from common.caller import THE_SERVICE
from common.faults import PermanentFault
from common.messages import Received, WorkItem
from common.sealing import SealBroken
from identity.use_cases.request_code import SENDING_QUEUE
from identity.use_cases.send_code import CodeToSend, send_code

if TYPE_CHECKING:
    from identity.app import Dependencies


async def on_code_to_send(item: CodeToSend, received: Received, dependencies: "Dependencies") -> None:
    try:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await send_code(uow, dependencies.sealer, dependencies.hashes, item, now=dependencies.clock.now())
    except SealBroken:
        raise PermanentFault("the sealed address does not open") from None


WORK: Final[list[WorkItem[Any]]] = [WorkItem(SENDING_QUEUE, CodeToSend, on_code_to_send)]
