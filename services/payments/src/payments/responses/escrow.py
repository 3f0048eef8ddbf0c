"""Release of escrow by staff."""

from typing import Annotated

from msgspec import Meta

from common.web.response_models import ResponseModel


class EscrowRelease(ResponseModel):
    released_minor: Annotated[int, Meta(description="Kobo that were released.")]
    remaining_locked_minor: Annotated[int, Meta(description="Kobo still in escrow.")]
