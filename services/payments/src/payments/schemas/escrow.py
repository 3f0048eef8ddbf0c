"""Release of escrow by staff."""

from common.web.schemas import PositiveKobo, RequestBody


class ReleaseEscrowRequest(RequestBody):
    """`POST /api/orders/:id/release`."""

    amount_minor: PositiveKobo
