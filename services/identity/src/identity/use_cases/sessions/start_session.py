"""Start a session."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn
from identity.domain.authorization_profile import SignIn
from identity.domain.user_agents import printable_user_agent
from identity.store import accounts, sessions
from identity.use_cases.sessions.issue_tokens import issue_tokens


async def start_session(
    uow: UnitOfWork,
    signing_keys: SigningKeys,
    user_id: UUID,
    *,
    method: str,
    user_agent: str | None,
    issuer: str,
    now: datetime,
) -> SignedIn:
    """Start a session of a user authenticated by `method` and return its tokens at AAL1."""
    sign_in = SignIn(new_id(), now, method=method)
    await sessions.record_session(uow, user_id, sign_in, printable_user_agent(user_agent))
    profile = await accounts.find_authorization_profile(uow, user_id)
    return await issue_tokens(uow, signing_keys, profile, sign_in, issuer=issuer, now=now)
