"""Start a sign-in at a provider."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.primitives.ids import new_secret
from identity.clients.oidc_provider import OidcProvider
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.oidc_tokens import flow_secrets_of
from identity.credentials.tokens import stored_hash
from identity.domain.oidc import STATE_LIFE, ReturnAddress
from identity.store import oidc

STARTING = ServiceItself("start of a sign-in by an identity provider")


async def start_sign_in(
    database: Database,
    hashes: KeyedHashes,
    provider: OidcProvider,
    return_to: ReturnAddress,
    redirect_uri: str,
    *,
    now: datetime,
) -> str:
    """Record the flow and return the address at the provider. Raises ProviderUnavailable."""
    flow = flow_secrets_of(hashes, new_secret())
    address = await provider.authorization_url(redirect_uri, flow)
    async with database.unit_of_work(acting_as=STARTING) as uow:
        await oidc.record_flow(uow, stored_hash(flow.state), provider.rules.name, return_to, now + STATE_LIFE)
    return address
