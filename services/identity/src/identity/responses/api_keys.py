"""Response models of API keys."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp
from identity.domain.api_keys import KeyScope


class ApiKey(ResponseModel):
    """An API key without its secret. A key lives while `revokedAt` is null and `expiresAt` is ahead."""

    id: UUID
    name: str
    hint: Annotated[str, Meta(description="The beginning and the end of the key.", examples=["cm_live_…4f9Q"])]
    vendor_id: Annotated[UUID | None, Meta(description="The shop of the key; null: the platform.")]
    scopes: Annotated[list[KeyScope], Meta(description="What the key may do while its creator may.")]
    networks: Annotated[list[str], Meta(description="The networks that may use the key; empty: every address.")]
    created_by: Annotated[UUID, Meta(description="Its creator. The key never has more permissions than they have.")]
    created_at: Timestamp
    expires_at: Timestamp
    last_used_at: Annotated[Timestamp | None, Meta(description="To the minute; null before the first use.")]
    revoked_at: Annotated[Timestamp | None, Meta(description="Null while it is not revoked.")]


class ApiKeyWithSecret(ApiKey):
    """`key` is sent as `Authorization: Bearer <key>`. It is shown at creation only."""

    key: Annotated[str, Meta(description="The secret. Store it as a password.")]


class ApiKeyToken(ResponseModel):
    """The token of a key for the gateway, both null for a key that is refused."""

    token: str | None
    expires_at: Timestamp | None
