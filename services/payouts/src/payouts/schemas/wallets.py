"""Responses of wallets and statements."""

from typing import Annotated

from pydantic import Field

from common.web.schemas import PositiveKobo, RequestBody


class WaiveRemainderRequest(RequestBody):
    amount_minor: Annotated[PositiveKobo, Field(description="The whole remainder, as the wallet shows it.")]
