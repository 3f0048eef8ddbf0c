"""Response models of sign-up and sessions."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel, Timestamp


class SignUpResult(ResponseModel):
    """Identical for an address that already has an account."""

    user_id: UUID
    confirmation_required: Literal[True]


class Tokens(ResponseModel):
    access_token: Annotated[str, Meta(description="Sent as `Authorization: Bearer <token>`.")]
    refresh_token: str
    token_type: Annotated[Literal["Bearer"], Meta(description="Always `Bearer`.")]
    expires_in: int
    aal: Annotated[
        Literal["aal1", "aal2"], Meta(description="The assurance level: `aal2` after a second factor, else `aal1`.")
    ]
    mfa_required: Annotated[
        bool, Meta(description="Whether the account has a second factor that this session has not shown.")
    ]


class SignInProvider(ResponseModel):
    name: Annotated[str, Meta(description="The name in the address of its sign-in.", examples=["school"])]


class EndedSession(ResponseModel):
    session_id: Annotated[UUID, Meta(description="The session.")]


class EndedSessions(ResponseModel):
    sessions_ended: int


class Session(ResponseModel):
    id: UUID
    signed_in_at: Annotated[Timestamp, Meta(description="The time of the sign-in.")]
    last_used_at: Timestamp
    method: Annotated[Literal["password", "otp", "oidc"], Meta(description="How the user signed in.")]
    user_agent: Annotated[str | None, Meta(description="The `User-Agent` of the sign-in.")]
    current: Annotated[bool, Meta(description="Whether it is the session of this request.")]
