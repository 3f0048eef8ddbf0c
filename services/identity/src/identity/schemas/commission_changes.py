"""Commission changes that need a second platform_admin."""

from typing import Annotated

from pydantic import StringConstraints

from common.web.schemas import RequestBody


class RejectCommissionChangeRequest(RequestBody):
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)] | None = None
