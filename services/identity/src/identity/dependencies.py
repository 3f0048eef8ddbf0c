"""The dependencies of routes, consumers and timers, opened by the composition root."""

from dataclasses import dataclass

from common.auth.tokens import Revocations
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from identity.credentials.encryption import Encryption
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.login_throttle import LoginThrottle
from identity.credentials.passkeys import Passkeys
from identity.credentials.passwords import Passwords
from identity.credentials.recovery_codes import RecoveryCodes
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.totp import Totp
from identity.domain.institutions import Institutions
from identity.domain.message_budgets import TextPolicy
from identity.use_cases.accounts.load_demo import DemoSecrets


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Every client, key and setting that requests, messages and loops use."""

    clock: Clock
    database: Database
    revocations: Revocations
    cursors: CursorSigner
    passwords: Passwords
    throttle: LoginThrottle
    encryption: Encryption
    hashes: KeyedHashes
    totp: Totp
    recovery_codes: RecoveryCodes
    passkeys: Passkeys
    signing_keys: SigningKeys
    institutions: Institutions
    issuer: str
    further_issuers: frozenset[str]
    # The subset of `further_issuers` whose tokens may assert staff roles.
    staff_issuers: frozenset[str]
    referral_reward_minor: int
    text_policy: TextPolicy
    demo: DemoSecrets
