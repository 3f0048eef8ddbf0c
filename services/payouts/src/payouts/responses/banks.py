"""Responses of the banks."""

from typing import Annotated

from msgspec import Meta

from common.web.response_models import ResponseModel


class Bank(ResponseModel):
    code: Annotated[str, Meta(description="The `bankCode` of bank details, withdrawals and refunds.")]
    name: str
