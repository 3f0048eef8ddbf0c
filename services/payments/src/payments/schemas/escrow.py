"""Release of escrow by staff."""

from common.web.schemas import PositiveKobo, RequestBody, ResponseShape


class ReleaseEscrowRequest(RequestBody):
    """`POST /api/orders/:id/release`."""

    amount_minor: PositiveKobo


class EscrowRelease(ResponseShape):
    released_minor: int
    remaining_locked_minor: int
