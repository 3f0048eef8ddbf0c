"""Tell somebody who was erased that it is done."""

from uuid import UUID

from common.database import UnitOfWork
from common.sealing import Sealer
from notifications.domain.deliveries import Sealed, Wanted, notification_id_of
from notifications.use_cases.deliver_notification import Desk, deliver_notification

TEMPLATE = "account_erased"


async def say_farewell(uow: UnitOfWork, desk: Desk, sealer: Sealer, user_id: UUID, email: str) -> None:
    """One last mail, which is nobody's. The address rests sealed with it, and is emptied when the mail was sent or given up."""
    notification_id = notification_id_of(TEMPLATE, user_id)
    context = str(notification_id)
    wanted = Wanted(
        notification_id=notification_id,
        channel="email",
        template=TEMPLATE,
        parameters={},
        sealed={"address": Sealed(sealer.seal(email, context), context)},
    )
    await deliver_notification(uow, wanted, desk, recipient=f"erased:{notification_id}")
