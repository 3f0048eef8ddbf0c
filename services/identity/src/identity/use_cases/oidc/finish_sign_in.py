"""Finish a sign-in at a provider: redeem its code and find the account."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.ids import new_secret
from common.primitives.problems import Unavailable
from identity.clients.oidc_provider import OidcProvider
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.oidc_tokens import flow_secrets_of
from identity.credentials.tokens import stored_hash
from identity.domain.errors import UnknownSignIn
from identity.domain.oidc import CODE_LIFE, ProviderIdentity, ProviderRules, SignInError, SignInFailed
from identity.store import accounts, codes, oidc, profiles, staff
from identity.use_cases.accounts.steps import confirm_email
from identity.use_cases.staff.propose_roles import propose_roles

SIGNING_IN = ServiceItself("sign-in by an identity provider")


@dataclass(frozen=True, slots=True)
class Callback:
    """The parameters of a provider's callback."""

    state: str
    code: str | None = None
    error: str | None = None
    issuer: str | None = None


@dataclass(frozen=True, slots=True)
class FinishedSignIn:
    """The page to return to, with a one-time code or with an error."""

    return_to: str
    code: str | None = None
    error: SignInError | None = None


async def finish_sign_in(
    database: Database,
    hashes: KeyedHashes,
    provider: OidcProvider,
    callback: Callback,
    redirect_uri: str,
    *,
    now: datetime,
) -> FinishedSignIn:
    """Redeem the provider's code and return a one-time code for the linked account; its groups propose roles.

    Raises UnknownSignIn for a `state` that is unknown, used, expired or of another provider.
    """
    async with database.unit_of_work(acting_as=SIGNING_IN) as uow:
        return_to = await oidc.claim_flow(uow, stored_hash(callback.state), provider.rules.name, now)
    if return_to is None:
        raise UnknownSignIn
    try:
        identity = await _redeem(provider, hashes, callback, redirect_uri)
        code = new_secret()
        async with database.unit_of_work(acting_as=SIGNING_IN) as uow:
            if provider.rules.groups_claim:
                # Before any row of a user, in the order of every change of staff.
                await staff.lock_staff(uow)
            user_id = await _find_or_link(uow, hashes, provider.rules, identity, now)
            if provider.rules.groups_claim:
                await propose_roles(uow, user_id, provider.rules.name, identity.proposed_roles, now=now)
            stored = oidc.StoredCode(
                user_id, identity.subject, identity.stepped_up_at, return_to.code_challenge, now + CODE_LIFE
            )
            await oidc.record_code(uow, stored_hash(code), stored)
    except SignInFailed as failed:
        return FinishedSignIn(return_to.url, error=failed.error)
    return FinishedSignIn(return_to.url, code=code)


async def _redeem(
    provider: OidcProvider, hashes: KeyedHashes, callback: Callback, redirect_uri: str
) -> ProviderIdentity:
    if callback.error is not None or not callback.code:
        raise SignInFailed("access_denied" if callback.error == "access_denied" else "provider_error")
    try:
        flow = flow_secrets_of(hashes, callback.state)
        return await provider.redeem(callback.code, redirect_uri, flow, callback.issuer)
    except Unavailable:
        raise SignInFailed("provider_unavailable") from None


async def _find_or_link(
    uow: UnitOfWork, hashes: KeyedHashes, rules: ProviderRules, identity: ProviderIdentity, now: datetime
) -> UUID:
    """Return the user of the linked account; the first sign-in links the account of the verified address."""
    user_id = await oidc.find_linked_user(uow, identity.subject)
    if user_id is None:
        return await _link(uow, hashes, identity.proven_email(rules), identity, now)
    if not rules.accepts(await accounts.find_email(uow, user_id) or ""):
        raise SignInFailed("email_domain_not_accepted")
    return user_id


async def _link(uow: UnitOfWork, hashes: KeyedHashes, email: str, identity: ProviderIdentity, now: datetime) -> UUID:
    user_id = await accounts.find_account(uow, email)
    if user_id is None:
        raise SignInFailed("no_account")
    await profiles.lock_profile(uow, user_id)
    await accounts.lock_password_hash(uow, user_id)
    await oidc.record_link_if_new(uow, identity.subject, user_id, now)
    if await oidc.find_linked_user(uow, identity.subject) != user_id:
        raise SignInFailed("linked_to_another_user")
    if not await codes.is_email_confirmed(uow, user_id):
        await confirm_email(uow, hashes, user_id, email, matching_hash=None, now=now)
    return user_id
