"""CREDENTIALS_KEY and CODE_DELIVERY_KEY are rotated while second factors, recovery codes and sessions stay valid
(decision 36).
"""

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from common.primitives.clock import ManualClock
from common.primitives.encryption import DecryptionFailed, Encryptor
from common.process.runtime import running
from common.process.service import http_app
from contracts.identity import CODE_DELIVERY
from identity.app import SERVICE
from testkit.fixtures import DatabaseFactory
from testkit.service_kit import opened, served

from .conftest import DEMO_PASSWORD, DEMO_SECRETS, QUICK_SERVICE, IdentityApp, _Address

OLD = {"credentials_key": "the old key of credentials", "code_delivery_key": "the old key of codes"}
NEW = {"credentials_key": "the new key of credentials", "code_delivery_key": "the new key of codes"}
BEFORE_THE_SWITCH = {**OLD, **{f"{name}_previous": key for name, key in NEW.items()}}
AFTER_THE_SWITCH = {**NEW, **{f"{name}_previous": key for name, key in OLD.items()}}
SHARED = "the key that all services shared"


@pytest.fixture
async def open_identity(fresh_database: DatabaseFactory, broker_url: str):
    urls, clock, address = (
        await fresh_database("identity"),
        ManualClock(datetime(2026, 9, 1, 8, tzinfo=UTC)),
        _Address(),
    )
    totp = {f"demo_totp_{name.lower()}": secret for name, secret in DEMO_SECRETS.items()}

    @asynccontextmanager
    async def open_one(keys: dict[str, str]):
        async with served(address) as base:
            jwks_url = f"{base}/.well-known/jwks.json"
            more: dict[str, Any] = {"jwks_url": jwks_url, "demo_password": DEMO_PASSWORD, **totp, **keys}
            async with opened(QUICK_SERVICE, urls, broker_url, clock=clock, **more) as service:
                address.app = http_app(service.service, service.settings, service.runtime, service.dependencies)
                yield IdentityApp(service, clock, jwks_url)

    return open_one


async def re_encrypt(app: IdentityApp, option=""):
    await SERVICE.commands["re-encrypt"](app.dependencies, option)


async def stepped_up(app: IdentityApp):
    app.next_period()
    return await app.step_up(await app.demo_log_in("MAKER"), DEMO_SECRETS["MAKER"])


async def with_recovery_code(app: IdentityApp, code):
    tokens = await app.demo_log_in("MAKER")
    return await app.post("/api/auth/mfa/verify", {"code": code}, token=tokens["accessToken"])


async def test_factors_recovery_codes_and_tokens_are_valid_through_a_rotation_and_after_it(
    open_identity, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_identity(OLD) as app:
        await app.load_demo()
        tokens = await stepped_up(app)
        response = await app.post("/api/auth/mfa/recovery-codes", token=tokens["accessToken"])
        codes = response.json()["data"]["codes"]
    async with open_identity(BEFORE_THE_SWITCH) as app:
        await stepped_up(app)
        assert (await app.get("/api/profiles/current", token=tokens["accessToken"])).status_code == 200
    async with open_identity(AFTER_THE_SWITCH) as app:
        await stepped_up(app)
        assert (await with_recovery_code(app, codes[0])).status_code == 200
        await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        await re_encrypt(app)
        output = capsys.readouterr().out
        assert f"totp_factors: {len(DEMO_SECRETS)} re-encrypted, 0 remain" in output
        assert "signing_keys: 1 re-encrypted, 0 remain" in output
        assert "hash_keys: 1 re-encrypted, 0 remain" in output
    async with open_identity(NEW) as app:
        await stepped_up(app)
        assert (await app.get("/api/profiles/current", token=tokens["accessToken"])).status_code == 200
        assert (await with_recovery_code(app, codes[0])).status_code == 422
        assert (await with_recovery_code(app, codes[1])).status_code == 200
        await re_encrypt(app, "--count")
        settings = app.settings.model_copy(update=OLD)
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test", app.clock):
            pass


async def test_a_code_on_its_way_is_sent_under_the_keys_of_the_rotation_and_counted(
    open_identity, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_identity(OLD) as app:
        await app.load_demo()
        await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        await app.post("/api/auth/otp", {"email": "maker@campus.example"})
    async with open_identity(AFTER_THE_SWITCH) as app:
        with pytest.raises(SystemExit):
            await re_encrypt(app)
        assert "unpublished messages: 0 re-encrypted, 1 remain" in capsys.readouterr().out
        await app.work("identity.codes")
        [event] = await app.published("identity.one_time_code_issued.v1")
        both = Encryptor(CODE_DELIVERY, NEW["code_delivery_key"], OLD["code_delivery_key"])
        assert both.decrypt(event["addressSealed"], event["codeId"]) == "maker@campus.example"


async def test_an_installation_of_the_previous_release_keeps_its_hashes_and_secrets(
    open_identity, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = {**NEW, "sealing_key": SHARED}
    async with open_identity(shared) as app:
        await app.load_demo()
        tokens = await stepped_up(app)
        response = await app.post("/api/auth/mfa/recovery-codes", token=tokens["accessToken"])
        codes = response.json()["data"]["codes"]
        before = Encryptor("unused", "unused", old_keys=(SHARED,))
        for row in await app.fetch("SELECT id, secret_sealed FROM totp_factors"):
            assert before.decrypt(row["secret_sealed"], f"totp:{row['id']}") in DEMO_SECRETS.values()
        # The previous release has no such table: the first start derives the key of its hashes from the shared one.
        await app.fetch("DELETE FROM hash_keys RETURNING 1")
    async with open_identity({**NEW, "sealing_key_previous": SHARED}) as app:
        await stepped_up(app)
        assert (await with_recovery_code(app, codes[0])).status_code == 200
        await app.fetch("UPDATE outbox SET published_at = now() RETURNING 1")
        await re_encrypt(app)
    async with open_identity(NEW) as app:
        await stepped_up(app)
        assert (await with_recovery_code(app, codes[1])).status_code == 200


async def test_an_installation_of_the_previous_release_does_not_start_without_its_key(open_identity) -> None:
    async with open_identity({**NEW, "sealing_key": SHARED}) as app:
        await app.fetch("DELETE FROM hash_keys RETURNING 1")
        settings = app.settings.model_copy(update={"sealing_key": ""})
    with pytest.raises(DecryptionFailed):
        async with running(SERVICE, settings, "test", app.clock):
            pass


def test_one_key_decrypts_no_text_of_another_service_or_of_another_purpose() -> None:
    from identity.credentials.encryption import encryption_of

    encryption = encryption_of(("the same value", ""), ("the same value", ""), ("", ""))
    encryptors = (encryption.totp_secrets, encryption.signing_keys, encryption.hash_key, encryption.codes)
    for encryptor in encryptors:
        encrypted = encryptor.encrypt("1", "a")
        for other in encryptors:
            if other is not encryptor:
                with pytest.raises(DecryptionFailed):
                    other.decrypt(encrypted, "a")
