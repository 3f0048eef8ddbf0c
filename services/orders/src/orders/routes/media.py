"""Public images of products. The content of a name never changes."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC
from common.primitives.problems import NotFound
from common.web.endpoint_table import Quota
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of
from common.web.responses import NOT_MODIFIED
from orders.dependencies import Dependencies
from orders.domain.images import image_name, thumbnail_name

endpoint = Endpoints("products")

_WEBP: Final = "image/webp"


@endpoint(
    "GET",
    "/media/{image_id}",
    id="media.getImage",
    content=_WEBP,
    responses=NOT_MODIFIED,
    allow=PUBLIC,
    quota=Quota.IMAGES,
)
async def get_image(request: Request, image_id: UUID) -> Response:
    """Return the image, at most 1,600 pixels wide and high."""
    return await _show(request, image_name(image_id))


@endpoint(
    "GET",
    "/media/{image_id}/thumbnail",
    id="media.getThumbnail",
    content=_WEBP,
    responses=NOT_MODIFIED,
    allow=PUBLIC,
    quota=Quota.IMAGES,
)
async def get_thumbnail(request: Request, image_id: UUID) -> Response:
    """Return the image, at most 320 pixels wide and high."""
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
