"""The dependencies of routes, consumers and timers, opened by the composition root."""

from collections.abc import Mapping
from dataclasses import dataclass

from common.auth.tokens import Revocations
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from identity.clients.oidc_provider import OidcProvider
from identity.credentials.encryption import Encryption
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passkeys import Passkeys
from identity.credentials.password_verifier import PasswordVerifier
from identity.credentials.passwords import Passwords
from identity.credentials.recovery_codes import RecoveryCodes
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import TokenIssuer
from identity.credentials.totp import Totp
from identity.domain.message_budgets import TextPolicy
from identity.use_cases.accounts.load_demo import DemoSecrets
from identity.use_cases.accounts.provision_user import Provisioning


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Every client, key and setting that requests, messages and loops use."""

    clock: Clock
    database: Database
    revocations: Revocations
    cursors: CursorSigner
    passwords: Passwords
    password_verifier: PasswordVerifier
    encryption: Encryption
    hashes: KeyedHashes
    totp: Totp
    recovery_codes: RecoveryCodes
    passkeys: Passkeys
    signing_keys: SigningKeys
    token_issuer: TokenIssuer
    provisioning: Provisioning
    further_issuers: frozenset[str]
    # The subset of `further_issuers` whose tokens may assert staff roles.
    staff_issuers: frozenset[str]
    # By name.
    oidc_providers: Mapping[str, OidcProvider]
    # The pages that a sign-in by a provider may return to.
    allowed_origins: tuple[str, ...]
    text_policy: TextPolicy
    demo: DemoSecrets
