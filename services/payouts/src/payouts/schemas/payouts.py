"""Request bodies of payouts."""

from common.web.schemas import PositiveKobo, RequestBody


class CreatePayoutRequest(RequestBody):
    amount_minor: PositiveKobo
