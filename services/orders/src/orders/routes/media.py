"""Public images of products. The content of a name never changes."""

from typing import Any, Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.primitives.problems import NotFound
from common.web.http import dependencies_of, guarded_router, public
from common.web.responses import NOT_MODIFIED, Meta, responses_for
from orders.dependencies import Dependencies
from orders.domain.images import image_name, thumbnail_name

router = guarded_router(tags=["products"])

_WEBP: Final = "image/webp"
_IMAGE_RESPONSE: Final[dict[int | str, dict[str, Any]]] = {
    **responses_for(Meta, 404),
    200: {"content": {_WEBP: {}}},
    **NOT_MODIFIED,
}


@router.get("/media/{image_id}", operation_id="media.getImage", responses=_IMAGE_RESPONSE, response_class=Response)
@public
async def show_image(request: Request, image_id: UUID) -> Response:
    """At most 1,600 pixels wide and high."""
    return await _show(request, image_name(image_id))


@router.get(
    "/media/{image_id}/thumbnail", operation_id="media.getThumbnail", responses=_IMAGE_RESPONSE, response_class=Response
)
@public
async def show_thumbnail(request: Request, image_id: UUID) -> Response:
    """At most 320 pixels wide and high."""
    return await _show(request, thumbnail_name(image_id))


async def _show(request: Request, name: str) -> Response:
    dependencies = dependencies_of(request, Dependencies)
    headers = {"ETag": f'"{name}"', "Cache-Control": "public, max-age=31536000, immutable"}
    content = await dependencies.media.get(name)
    if content is None:
        raise NotFound
    if f'"{name}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_WEBP)
