"""Request models of deliveries and their attempts (contract section 12)."""

from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field, StrictBool

from common.web.schemas import RequestBody
from contracts.channels import Channel
from notifications.deliveries.domain.templates import CATALOG, parameters_of

_PARAMETERS: Final = "The parameters of each template; `?` marks optional ones." + "; ".join(
    f"`{name}`: {', '.join(parameters_of(template)) or 'none'}" for name, template in CATALOG.items()
)

Template = Annotated[str, Field(json_schema_extra={"enum": list(CATALOG)})]


class DeliverNotificationRequest(RequestBody):
    """One message on one channel.

    `data` holds the parameters of the template. A missing one is 422 with its name; others are ignored. `sensitive`
    encrypts the texts at rest.
    """

    notification_id: UUID
    user_id: UUID
    channel: Channel
    template: Annotated[Template, Field(min_length=1, max_length=64)]
    data: Annotated[dict[str, Any], Field(description=_PARAMETERS)]
    locale: Annotated[str, Field(pattern="^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)] | None = None
    sensitive: StrictBool = False
