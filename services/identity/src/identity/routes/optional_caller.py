"""The caller of an endpoint with an optional token: without a valid token the caller is anonymous."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from common.auth.caller import ANONYMOUS, Caller
from common.auth.tokens import bearer_token
from common.primitives.problems import Forbidden, TokenExpired, Unauthorized
from common.web.http_context import context_of


async def optional_caller_of(request: Request) -> Caller:
    """For endpoints with `@before_sign_in`. Raises Unavailable when the issuer of the token is unavailable."""
    offered = request.headers.getlist("authorization")
    try:
        token = bearer_token(offered[0]) if len(offered) == 1 else None
        return ANONYMOUS if token is None else await context_of(request).verifier.caller_of(token)
    except (Unauthorized, TokenExpired, Forbidden):
        return ANONYMOUS


OptionalCaller = Annotated[Caller, Depends(optional_caller_of)]
