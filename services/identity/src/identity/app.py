"""The composition root of the identity service.

Processes: `python -m identity api | worker | all | migrate | demo-data | rotate-keys | retire-keys | re-encrypt
[--count] | grant-admin EMAIL | publish-profiles`. `publish-profiles` publishes every profile again, for services that
project a new field of it. The first start of any of them (except `migrate`) creates the signing key, and the first
`platform_admin` if `BOOTSTRAP_ADMIN_EMAIL` and `BOOTSTRAP_ADMIN_PASSWORD` are set.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.resources import files

from argon2 import PasswordHasher

from common.auth.caller import ServiceItself
from common.auth.issuers import FederatedIdentity
from common.auth.user_lookup import LocalUser
from common.database.hash_keys import ensure_hash_key
from common.database.reencryption import COMMAND as REENCRYPT
from common.database.reencryption import EncryptedMessages, reencrypt_by_command
from common.database.trail import print_trail
from common.database.unit_of_work import Database
from common.primitives.cells import Cells
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from common.process.loops import Loop
from common.process.runtime import Runtime, Service
from common.process.service import EXIT_UNKNOWN_COMMAND
from contracts.demo import CAMPUSES
from contracts.identity import OneTimeCodeIssued
from identity.clients.oidc_provider import OidcProvider
from identity.consumers import SUBSCRIPTIONS, WORK
from identity.credentials.encryption import Encryption, encryption_of
from identity.credentials.keyed_hashes import KeyedHashes, hash_key_of_release_before
from identity.credentials.login_throttle import LoginThrottle
from identity.credentials.passkeys import Passkeys, RelyingParty
from identity.credentials.password_verifier import PasswordVerifier
from identity.credentials.passwords import HASHER, Passwords
from identity.credentials.recovery_codes import RecoveryCodes
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import TokenIssuer
from identity.credentials.totp import Totp
from identity.dependencies import Dependencies
from identity.domain.errors import CannotAppoint, KeysStillInUse, UnknownKey
from identity.domain.institutions import Institutions
from identity.domain.message_budgets import TextPolicy
from identity.domain.one_time_codes import SENDING_QUEUE
from identity.queries.own_actions import OWN_ACTIONS, STAFF_ACTIONS
from identity.queries.pending_work import PENDING_WORK
from identity.queries.personal_records import SECTIONS
from identity.settings import Settings
from identity.store.encrypted_values import encrypted_rows
from identity.store.retention import RETENTION_RULES
from identity.timers import (
    CHECK_EVERY_SECONDS,
    ERASURE_METRIC_EVERY_SECONDS,
    GUESS_METRIC_EVERY_SECONDS,
    record_erasure_age_once,
    record_guessed_accounts_once,
    record_signing_key_age_once,
    revoke_distrusted_sessions_once,
    warn_of_expiring_keys_once,
)
from identity.use_cases.accounts.find_user import find_user
from identity.use_cases.accounts.load_demo import DemoSecrets, load_demo
from identity.use_cases.accounts.provision_user import Provisioning
from identity.use_cases.accounts.publish_profiles import publish_profiles
from identity.use_cases.signing_keys.ensure_signing_key import ensure_signing_key
from identity.use_cases.signing_keys.retire_compromised_key import retire_compromised_key
from identity.use_cases.signing_keys.retire_keys import retire_keys
from identity.use_cases.signing_keys.rotate_keys import rotate_keys
from identity.use_cases.staff.appoint_admin import appoint_admin
from identity.use_cases.staff.ensure_first_admin import ensure_first_admin

LOOKING_UP_USER = ServiceItself("user lookup for a token of a further issuer")


@asynccontextmanager
async def compose(
    settings: Settings, runtime: Runtime, *, hasher: PasswordHasher = HASHER
) -> AsyncIterator[Dependencies]:
    """Build the dependencies; create the signing key and the first administrator when they are missing."""
    shared = (settings.sealing_key, settings.sealing_key_previous)
    encryption = encryption_of(
        (settings.credentials_key, settings.credentials_key_previous),
        (settings.code_delivery_key, settings.code_delivery_key_previous),
        shared,
    )
    signing_keys, now = SigningKeys(encryption.signing_keys), runtime.clock.now()
    await ensure_signing_key(runtime.database, signing_keys, now=now)
    hashes = KeyedHashes(await _hash_key(runtime.database, encryption, shared))
    passwords = Passwords(hasher)
    async with AsyncExitStack() as stack:
        stack.callback(passwords.close)
        dependencies = Dependencies(
            clock=runtime.clock,
            database=runtime.database,
            revocations=runtime.verifier.revocations,
            cursors=CursorSigner(settings.cursor_key),
            passwords=passwords,
            password_verifier=PasswordVerifier(runtime.database, passwords, LoginThrottle(), hashes),
            encryption=encryption,
            hashes=hashes,
            totp=Totp(encryption.totp_secrets),
            recovery_codes=RecoveryCodes(hashes),
            passkeys=Passkeys(RelyingParty(settings.relying_party_id, settings.relying_origins)),
            signing_keys=signing_keys,
            token_issuer=TokenIssuer(signing_keys, settings.base_url),
            provisioning=Provisioning(read_institutions(settings.all_cells), hashes, settings.referral_reward_minor),
            further_issuers=frozenset(entry.issuer for entry in settings.trusted_issuers),
            staff_issuers=frozenset(entry.issuer for entry in settings.trusted_issuers if entry.allow_staff_roles),
            oidc_providers=await stack.enter_async_context(_opened_oidc_providers(settings, runtime)),
            allowed_origins=settings.allowed_origins,
            text_policy=_text_policy_of(settings),
            demo=DemoSecrets(settings.demo_password, settings.demo_totp_by_name),
        )
        runtime.verifier.user_lookup = LocalUserLookup(runtime.database, dependencies.hashes, runtime.clock)
        if settings.bootstrap_admin_email:
            await ensure_first_admin(
                runtime.database,
                passwords,
                dependencies.provisioning,
                settings.bootstrap_admin_email,
                settings.bootstrap_admin_password,
                now=now,
            )
        yield dependencies


@asynccontextmanager
async def _opened_oidc_providers(settings: Settings, runtime: Runtime) -> AsyncIterator[dict[str, OidcProvider]]:
    """Yield the configured identity providers by name; without one the HTTP client, 6 MiB, is not imported."""
    if not settings.oidc_providers:
        yield {}
        return
    from common.web.provider_client import provider_client

    async with provider_client(timeout=runtime.limits.identity) as http:
        yield {
            entry.name: OidcProvider(
                entry.rules,
                entry.client_secret.get_secret_value(),
                http,
                runtime.clock,
                allow_loopback=settings.oidc_allow_loopback,
                seconds_max=runtime.limits.identity,
            )
            for entry in settings.oidc_providers
        }


async def _hash_key(database: Database, encryption: Encryption, shared: tuple[str, str]) -> bytes:
    known = next((hash_key_of_release_before(key) for key in shared if key), None)
    return await ensure_hash_key(database, encryption.hash_key, "identity", of_release_before=known)


def _text_policy_of(settings: Settings) -> TextPolicy:
    return TextPolicy(
        countries=frozenset(settings.sms_countries),
        account_per_day=settings.sms_budget_account_per_day,
        number_per_hour=settings.sms_budget_number_per_hour,
        number_per_day=settings.sms_budget_number_per_day,
        prefix_per_hour=settings.sms_budget_prefix_per_hour,
        address_per_hour=settings.sms_budget_address_per_hour,
        total_per_hour=settings.sms_budget_total_per_hour,
        shared_addresses=settings.shared_addresses,
    )


def read_institutions(cells: Cells | None = None) -> Institutions:
    """Read the packaged institutions. The campuses of the demo data keep the ids that all services use."""
    entries = json.loads((files("identity") / "data" / "university-domains.json").read_text(encoding="utf-8"))
    known_ids = {campus.domain: campus.id for campus in CAMPUSES}
    return Institutions([(entry["name"], entry["domains"]) for entry in entries], known_ids, cells)


async def demo_data(dependencies: Dependencies) -> None:
    """Run `python -m identity demo-data`."""
    await load_demo(
        dependencies.database,
        dependencies.passwords,
        dependencies.totp,
        dependencies.demo,
        now=dependencies.clock.now(),
    )


def loops(dependencies: Dependencies) -> list[Loop]:
    """Return the background loops of the worker."""
    return [
        Loop(
            "revoke-distrusted-sessions",
            partial(revoke_distrusted_sessions_once, dependencies),
            CHECK_EVERY_SECONDS,
        ),
        Loop("alert-of-expiring-keys", partial(warn_of_expiring_keys_once, dependencies), CHECK_EVERY_SECONDS),
        Loop("measure-signing-key-age", partial(record_signing_key_age_once, dependencies), CHECK_EVERY_SECONDS),
        Loop("measure-erasure-age", partial(record_erasure_age_once, dependencies), ERASURE_METRIC_EVERY_SECONDS),
        Loop(
            "measure-guessed-accounts", partial(record_guessed_accounts_once, dependencies), GUESS_METRIC_EVERY_SECONDS
        ),
    ]


class LocalUserLookup:
    """Look up users in this service's own database, in place of an HTTP call to itself."""

    def __init__(self, database: Database, hashes: KeyedHashes, clock: Clock) -> None:
        self._database, self._hashes, self._clock = database, hashes, clock

    async def find(self, token: str, federated: FederatedIdentity) -> LocalUser:
        """Raise ProfileMissing and Unauthorized."""

        now = self._clock.now()
        return await self._database.transact(
            acting_as=LOOKING_UP_USER,
            work=lambda uow: find_user(
                uow, self._hashes, federated.user_id, federated.session_id, federated=federated, now=now
            ),
        )


async def publish_profiles_command(dependencies: Dependencies) -> None:
    """Run `python -m identity publish-profiles`."""
    _print(f"published {await publish_profiles(dependencies.database)} profiles")


async def rotate_keys_command(dependencies: Dependencies) -> None:
    """Run `python -m identity rotate-keys`."""
    _print(await rotate_keys(dependencies.database, dependencies.signing_keys, now=dependencies.clock.now()))


async def retire_keys_command(dependencies: Dependencies, option: str = "", kid: str = "") -> None:
    """Run `python -m identity retire-keys [--compromised KID]`. Exits with status 1 on a rejection."""
    if bool(option) != bool(kid) or option not in ("", "--compromised"):
        sys.stderr.write("python -m identity retire-keys [--compromised KID]\n")
        raise SystemExit(EXIT_UNKNOWN_COMMAND)
    now = dependencies.clock.now()
    try:
        if kid:
            _print(await retire_compromised_key(dependencies.database, dependencies.signing_keys, kid, now=now))
        else:
            _print(await retire_keys(dependencies.database, now=now))
    except (KeysStillInUse, UnknownKey) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from None


async def re_encrypt_command(dependencies: Dependencies, option: str = "") -> None:
    """Run `python -m identity re-encrypt [--count]`."""
    rows = encrypted_rows(dependencies.encryption, dependencies.totp, dependencies.signing_keys)
    codes = EncryptedMessages((SENDING_QUEUE, OneTimeCodeIssued.TYPE), dependencies.encryption.codes)
    await reencrypt_by_command(dependencies.database, rows, [codes], option)


async def grant_admin_command(dependencies: Dependencies, email: str) -> None:
    """Run `python -m identity grant-admin EMAIL`. Exits with status 1 on a rejection."""
    try:
        _print(await appoint_admin(dependencies.database, email, now=dependencies.clock.now()))
    except CannotAppoint as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(1) from None


async def action_trail_command(dependencies: Dependencies, since: str, until: str) -> None:
    """Run `python -m identity action-trail SINCE UNTIL`."""
    await print_trail(dependencies.database, STAFF_ACTIONS, since, until)


def _print(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")


SERVICE = Service(
    name="identity",
    settings=Settings,
    compose=compose,
    routes="identity.routes",
    personal_records=SECTIONS,
    pending_work=PENDING_WORK,
    own_actions=OWN_ACTIONS,
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
    retention_rules=lambda _: RETENTION_RULES,
    commands={
        "demo-data": demo_data,
        "publish-profiles": publish_profiles_command,
        "rotate-keys": rotate_keys_command,
        "retire-keys": retire_keys_command,
        "grant-admin": grant_admin_command,
        "action-trail": action_trail_command,
        REENCRYPT: re_encrypt_command,
    },
)
