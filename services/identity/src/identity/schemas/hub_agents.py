"""Request models of hub agents."""

from typing import Annotated

from pydantic import Field

from common.web.schemas import RequestBody
from identity.schemas.fields import Email
from identity.schemas.staff import Reason


class AppointHubAgentRequest(RequestBody):
    email: Annotated[Email, Field(description="The confirmed mail address of an account.")]
    reason: Annotated[Reason, Field(description="Recorded in the trail of staff actions.")]


class DismissHubAgentRequest(RequestBody):
    reason: Annotated[Reason, Field(description="Recorded in the trail of staff actions.")]
