"""Delivery attempts of messages, and their resend."""

from typing import Final

from starlette.responses import Response

from console.families import Screens
from console.formats import spoken
from console.lists import Column, Filter, ListView, show_list
from console.visit import Visit

SCREENS = Screens()

DELIVERIES = ListView(
    "/api/notification-delivery-logs",
    columns=(
        Column(
            "Message",
            lambda row: spoken(row["template"]),
            link="/notification-delivery-logs?notificationId={notificationId}",
        ),
        Column("Channel", "channel"),
        Column("Recipient", "recipient"),
        Column("Status", "status", "badge"),
        Column("Provider", "provider"),
        Column("Error", "error"),
        Column("Tried", "attemptedAt", "time"),
    ),
    filters=(
        Filter("channel", "Channel"),
        Filter("status", "Status"),
        Filter("notificationId", "Notification id"),
        Filter("userId", "Person", kind="hidden"),
    ),
    empty="No message has been sent yet.",
)
DELIVERY_READERS: Final = ("delivery_logs:read", "notifications:resend")


@SCREENS.page("/notification-delivery-logs", title="Messages", any_of=DELIVERY_READERS, menu="Messages")
async def deliveries_page(visit: Visit) -> Response:
    return await show_list(visit, DELIVERIES, "support/deliveries.html")


@SCREENS.action("/notification-delivery-logs/{id:uuid}/resend", any_of=("notifications:resend",), page=deliveries_page)
async def resend(visit: Visit) -> Response:
    await visit.api.post(f"/api/notification-delivery-logs/{visit['id']}/resend")
    return visit.go(
        f"/notification-delivery-logs?notificationId={visit.form['notificationId']}", "The message is sent again."
    )
