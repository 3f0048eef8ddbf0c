"""Request bodies of payouts."""

from common.web.schemas import PositiveKobo, RequestBody
from payouts.schemas.reconciliations import Reason


class HoldPayoutRequest(RequestBody):
    reason: Reason


class CreatePayoutRequest(RequestBody):
    amount_minor: PositiveKobo
