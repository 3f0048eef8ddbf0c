"""Raw bodies of webhooks, whose signature covers the bytes."""

from starlette.requests import Request

from common.primitives.problems import ValidationFailed


async def read_raw_body(request: Request, bytes_max: int) -> bytes:
    """Read the body. Raises ValidationFailed (413) above `bytes_max`."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > bytes_max:
            raise ValidationFailed("The body is too large.", status=413)
        pieces.append(piece)
    return b"".join(pieces)
