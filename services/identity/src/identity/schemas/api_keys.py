"""Request models of API keys."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from common.web.schemas import A_NAME, Instant, RequestBody
from contracts.permissions import KEY_SCOPES
from identity.domain.api_keys import NETWORKS_MAX, KeyScope, checked_network

Network = Annotated[str, StringConstraints(max_length=43), AfterValidator(checked_network)]


class CreateApiKeyRequest(RequestBody):
    """A key of the own shop (`shop_...` scopes), or of the platform."""

    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
        A_NAME,
        Field(description="The program that uses the key.", examples=["Stock synchronisation"]),
    ]
    scopes: Annotated[
        list[KeyScope],
        Field(
            min_length=1,
            max_length=len(KEY_SCOPES),
            description="What the key may do. The caller must hold the permission of each scope.",
        ),
    ]
    networks: Annotated[
        list[Network],
        Field(
            default_factory=list,
            max_length=NETWORKS_MAX,
            description="The networks from which the key is accepted; empty: every address.",
            examples=[["192.0.2.0/24"]],
        ),
    ]
    expires_at: Annotated[Instant, Field(description="At most 365 days ahead.")]

    @field_validator("scopes")
    @classmethod
    def scopes_differ(cls, value: list[KeyScope]) -> list[KeyScope]:
        if len({*value}) < len(value):
            raise ValueError("must be named once each")
        return value


class ExchangeApiKeyRequest(RequestBody):
    key: Annotated[str, StringConstraints(min_length=1, max_length=100)]
