"""The composition root of the identity service."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files

from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.process import Loop, Runtime, Service
from common.sealing import Sealer
from common.tokens import Revocations
from contracts.demo import CAMPUSES
from identity.consumers import WORK
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.one_time_codes import OneTimeCodes
from identity.credentials.passwords import Passwords
from identity.credentials.patience import Patience
from identity.credentials.signing_keys import SigningKeys
from identity.domain.institutions import Institutions
from identity.routes import campuses, codes, factors, functions, keys, profiles, sessions, vendors
from identity.settings import Settings
from identity.timers import PRUNE_EVERY_SECONDS, prune_codes_once, prune_sessions_once
from identity.use_cases.ensure_first_admin import ensure_first_admin
from identity.use_cases.ensure_signing_key import ensure_signing_key
from identity.use_cases.load_demo import DemoSecrets, load_demo


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the service works with."""

    clock: Clock
    database: Database
    revocations: Revocations
    cursors: CursorSigner
    passwords: Passwords
    patience: Patience
    sealer: Sealer
    hashes: KeyedHashes
    codes: OneTimeCodes
    signing_keys: SigningKeys
    institutions: Institutions
    issuer: str
    referral_reward_minor: int
    demo: DemoSecrets


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Puts the service together, and makes the signing key and the first administrator when they are missing."""
    sealer = Sealer(settings.sealing_key)
    passwords = Passwords()
    try:
        dependencies = Dependencies(
            clock=runtime.clock,
            database=runtime.database,
            revocations=runtime.verifier.revocations,
            cursors=CursorSigner(settings.cursor_key),
            passwords=passwords,
            patience=Patience(),
            sealer=sealer,
            hashes=KeyedHashes(settings.sealing_key),
            codes=OneTimeCodes(sealer),
            signing_keys=SigningKeys(sealer),
            institutions=read_institutions(),
            issuer=settings.base_url,
            referral_reward_minor=settings.referral_reward_minor,
            demo=DemoSecrets(settings.demo_password, settings.demo_totp_by_name),
        )
        now = runtime.clock.now()
        await ensure_signing_key(runtime.database, dependencies.signing_keys, now=now)
        if settings.bootstrap_admin_email:
            await ensure_first_admin(
                runtime.database,
                passwords,
                dependencies.institutions,
                settings.bootstrap_admin_email,
                settings.bootstrap_admin_password,
                now=now,
            )
        yield dependencies
    finally:
        passwords.close()


def read_institutions() -> Institutions:
    """The institutions that come with the package; the campuses of the demo data keep the ids that all services know."""
    entries = json.loads((files("identity") / "data" / "university-domains.json").read_text(encoding="utf-8"))
    known_ids = {campus.domain: campus.id for campus in CAMPUSES}
    return Institutions([(entry["name"], entry["domains"]) for entry in entries], known_ids)


async def demo_data(dependencies: Dependencies) -> None:
    """`python -m identity demo-data`."""
    await load_demo(
        dependencies.database,
        dependencies.passwords,
        dependencies.codes,
        dependencies.demo,
        now=dependencies.clock.now(),
    )


def loops(dependencies: Dependencies) -> list[Loop]:
    """What the worker does beside its queues."""

    async def prune() -> int:
        return await prune_sessions_once(dependencies.database, now=dependencies.clock.now())

    async def prune_codes() -> int:
        return await prune_codes_once(dependencies.database, now=dependencies.clock.now())

    return [
        Loop("old sessions", prune, PRUNE_EVERY_SECONDS),
        Loop("old codes and failures", prune_codes, PRUNE_EVERY_SECONDS),
    ]


SERVICE = Service(
    name="identity",
    settings=Settings,
    compose=compose,
    routers=[
        sessions.router,
        codes.router,
        factors.router,
        keys.router,
        profiles.router,
        campuses.router,
        vendors.router,
        functions.router,
    ],
    work_items=WORK,
    loops=loops,
    commands={"demo-data": demo_data},
)
