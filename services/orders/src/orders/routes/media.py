"""Pictures of products, for everybody. A name has one content for ever."""

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.answers import NOT_MODIFIED, EnvelopeMeta, answers
from common.http import dependencies_of, guarded_router, public
from common.problems import NotFound
from orders.domain.images import picture_name, thumbnail_name

if TYPE_CHECKING:
    from orders.app import Dependencies

router = guarded_router(tags=["products"])

_WEBP: Final = "image/webp"
_PICTURE: Final[dict[int | str, dict[str, Any]]] = {
    **answers(EnvelopeMeta, 404),
    200: {"content": {_WEBP: {}}},
    **NOT_MODIFIED,
}


@router.get("/media/{image_id}", responses=_PICTURE, response_class=Response)
@public
async def show_picture(request: Request, image_id: UUID) -> Response:
    """At most 1,600 pixels wide and high."""
    return await _show(request, picture_name(image_id))


@router.get("/media/{image_id}/thumbnail", responses=_PICTURE, response_class=Response)
@public
async def show_thumbnail(request: Request, image_id: UUID) -> Response:
    """At most 320 pixels wide and high."""
    return await _show(request, thumbnail_name(image_id))


async def _show(request: Request, name: str) -> Response:
    dependencies: Dependencies = dependencies_of(request)
    headers = {"ETag": f'"{name}"', "Cache-Control": "public, max-age=31536000, immutable"}
    content = await dependencies.media.get(name)
    if content is None:
        raise NotFound
    if f'"{name}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_WEBP)
