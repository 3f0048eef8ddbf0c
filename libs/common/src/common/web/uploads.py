"""An image upload: one multipart field named `file`, read within a size limit."""

from collections.abc import AsyncGenerator
from typing import Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from common.primitives.problems import ValidationFailed

IMAGE_BYTES_MAX: Final = 5 * 1024 * 1024
# The bytes around the file: boundaries, and the headers of one part.
FRAME_BYTES_MAX: Final = 4 * 1024
# FastAPI would read the whole form before the checks, so the endpoint parses it and OpenAPI is completed by hand.
FILE_SHOWN: Final[dict[str, object]] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "A JPEG, PNG or WebP image of at most 5 MiB.",
                        }
                    },
                }
            }
        },
    }
}


class ImageTooLarge(ValidationFailed):
    status, detail = 413, "The file is larger than 5 MiB."


class WrongMediaType(ValidationFailed):
    status, detail = 415, "The body must be multipart/form-data."


async def read_image(request: Request) -> bytes:
    """Return the bytes of the field `file`. Raises WrongMediaType (415), ImageTooLarge (413), ValidationFailed
    (422).
    """
    media = request.headers.get("content-type", "")
    if media.partition(";")[0].strip().lower() != "multipart/form-data":
        raise WrongMediaType
    try:
        form = await MultiPartParser(request.headers, _bounded(request), max_files=1, max_fields=0).parse()
    except (MultiPartException, KeyError) as error:
        raise ValidationFailed.of("file", "the body must hold the one field `file`") from error
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise ValidationFailed.of("file", "is missing")
        content = await file.read()
    finally:
        await form.close()
    if len(content) > IMAGE_BYTES_MAX:
        raise ImageTooLarge
    return content


async def _bounded(request: Request) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > IMAGE_BYTES_MAX + FRAME_BYTES_MAX:
            raise ImageTooLarge
        yield chunk
