"""Delivery and its PIN (contract section 6)."""

from typing import Annotated

from pydantic import StringConstraints

from common.web.schemas import RequestBody


class VerifyDeliveryRequest(RequestBody):
    pin: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,8}$")]
