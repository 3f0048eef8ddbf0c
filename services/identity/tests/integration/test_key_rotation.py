"""Signing keys change while everybody works: no token is refused that should not be, and none believed for long that should be."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from common.problems import Unauthorized
from common.tokens import RENEW_KEYS_EVERY_SECONDS, TokenVerifier
from common.verification_keys import KeySet
from identity.app import SERVICE
from identity.domain.key_rotation import FORGOTTEN_AFTER, KEY_SET_SECONDS, PUBLISHED_AHEAD
from identity.measures import SIGNING_KEY_TIME
from identity.timers import measure_signing_key_once
from identity.use_cases.ensure_signing_key import ensure_signing_key

from .conftest import Identity

EMAIL = "tola@unilag.edu.ng"


async def command(identity: Identity, name: str, *options: str) -> tuple[int, str]:
    """Runs a command of the service as its operator would: status, and what it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            await SERVICE.commands[name](identity.dependencies, *options)
        except SystemExit as ended:
            return int(str(ended.code)), said.getvalue()
    # Before a log is started its lines stand on the output as well.
    return 0, "".join(line for line in said.getvalue().splitlines(keepends=True) if not line.startswith("audit: "))


def kid_of(tokens: dict[str, Any]) -> str:
    return str(jwt.get_unverified_header(tokens["accessToken"])["kid"])


async def published(identity: Identity) -> list[str]:
    return [key["kid"] for key in (await identity.get("/.well-known/jwks.json")).json()["keys"]]


async def signing_kid(identity: Identity) -> str:
    return kid_of(await identity.log_in(EMAIL))


@asynccontextmanager
async def verifiers(identity: Identity, number: int) -> AsyncIterator[list[TokenVerifier]]:
    """Verifiers of other processes, which know the key set over the socket only."""
    clock, issuer = identity.clock, identity.dependencies.issuer
    yield [TokenVerifier(KeySet(identity.jwks_url, clock), issuer=issuer, clock=clock) for _ in range(number)]


async def test_no_request_fails_through_a_whole_rotation(identity: Identity) -> None:
    """Two gateways that fetched the keys at the worst moments; tokens old and new; every second of the way."""
    await identity.sign_up(EMAIL)
    old = await identity.log_in(EMAIL)
    async with verifiers(identity, 3) as (before, after, renewing):
        await before.caller_of(old["accessToken"])
        status, said = await command(identity, "rotate-keys")
        assert (status, len(await published(identity))) == (0, 2)
        await after.caller_of(old["accessToken"])
        assert await signing_kid(identity) == kid_of(old)
        claims, stranger = {"iss": identity.dependencies.issuer}, Ed25519PrivateKey.generate()
        refused_kid = jwt.encode(claims, stranger, algorithm="EdDSA", headers={"kid": "unknown"})
        seen = set()
        for second in range(int(PUBLISHED_AHEAD.total_seconds()) + 10):
            identity.clock.advance(timedelta(seconds=1))
            # A login a second is what a small machine can hash; the moment of the change is looked at closely.
            if second % 30 and abs(second - PUBLISHED_AHEAD.total_seconds()) > 3:
                continue
            fresh = await identity.log_in(EMAIL)
            seen.add(kid_of(fresh))
            for verifier in (before, after, renewing):
                # Somebody else's unknown kid uses up the refetch of these five seconds, just before.
                with pytest.raises(Unauthorized):
                    await verifier.caller_of(refused_kid)
                for tokens in (old, fresh):
                    assert (await verifier.caller_of(tokens["accessToken"])).roles == {"buyer"}
            await renewing.renew_keys_once()
        assert seen == {kid_of(old), (await published(identity))[0]}
        assert said.startswith(f"Key {(await published(identity))[0]} is published")


async def test_a_running_service_signs_with_the_new_key_from_its_moment_on(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    old = await signing_kid(identity)
    await command(identity, "rotate-keys")
    new = next(kid for kid in await published(identity) if kid != old)
    identity.clock.advance(PUBLISHED_AHEAD - timedelta(seconds=1))
    assert await signing_kid(identity) == old
    identity.clock.advance(timedelta(seconds=1))
    assert await signing_kid(identity) == new


async def test_a_repeated_or_interrupted_rotation_is_one_rotation(identity: Identity) -> None:
    for _ in range(2):
        await asyncio.gather(*(command(identity, "rotate-keys") for _ in range(4)))
        assert len(await published(identity)) == 2
        identity.clock.advance(PUBLISHED_AHEAD)
    status, said = await command(identity, "rotate-keys")
    assert (status, "retire-keys" in said) == (0, True)
    assert len(await published(identity)) == 2


async def test_a_rotation_that_dies_leaves_nothing(identity: Identity, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await published(identity)

    def die() -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(type(identity.dependencies.signing_keys), "make", lambda _: die())
    with pytest.raises(RuntimeError):
        await command(identity, "rotate-keys")
    monkeypatch.undo()
    assert await published(identity) == before
    await command(identity, "rotate-keys")
    assert len(await published(identity)) == 2


async def test_a_key_is_retired_only_when_no_token_of_it_can_live(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    assert await command(identity, "retire-keys") == (0, "Nothing to do: no key waits to be retired.\n")
    await command(identity, "rotate-keys")
    assert (await command(identity, "retire-keys"))[0] == 0
    assert len(await published(identity)) == 2
    identity.clock.advance(PUBLISHED_AHEAD - timedelta(seconds=1))
    last = await identity.log_in(EMAIL)
    async with verifiers(identity, 1) as (elsewhere,):
        identity.clock.advance(timedelta(seconds=1))
        for wait in (timedelta(), FORGOTTEN_AFTER - timedelta(seconds=1)):
            identity.clock.advance(wait)
            status, said = await command(identity, "retire-keys")
            assert (status, len(await published(identity))) == (1, 2)
            assert "may live until" in said
        with pytest.raises(Exception, match="expired"):
            await elsewhere.caller_of(last["accessToken"])
    identity.clock.advance(timedelta(seconds=1))
    assert await command(identity, "retire-keys") == (0, f"Retired: {kid_of(last)}.\n")
    assert await command(identity, "retire-keys") == (0, "Nothing to do: no key waits to be retired.\n")
    assert kid_of(last) not in await published(identity)
    # And then another rotation may begin.
    assert (await command(identity, "rotate-keys"))[0] == 0
    assert len(await published(identity)) == 2


async def test_a_compromised_key_is_believed_nowhere_after_a_minute(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    stolen = await identity.log_in(EMAIL)
    async with verifiers(identity, 2) as (renewing, asleep):
        for verifier in (renewing, asleep):
            await verifier.caller_of(stolen["accessToken"])
        status, said = await command(identity, "retire-keys", "--compromised", kid_of(stolen))
        assert status == 0
        (new,) = await published(identity)
        assert said == f"Key {kid_of(stolen)} is retired as compromised. Key {new} signs.\n"
        assert await signing_kid(identity) == new
        # Longer than the loop of a process ever waits, jitter included.
        identity.clock.advance(timedelta(seconds=RENEW_KEYS_EVERY_SECONDS * 1.2))
        await renewing.renew_keys_once()
        with pytest.raises(Unauthorized):
            await renewing.caller_of(stolen["accessToken"])
        # Even a process whose loop stands still: the cached look ends, and a new one sees the keys of whom it met since.
        await asleep.caller_of((await identity.log_in(EMAIL))["accessToken"])
        identity.clock.advance(timedelta(seconds=60 - RENEW_KEYS_EVERY_SECONDS * 1.2))
        with pytest.raises(Unauthorized):
            await asleep.caller_of(stolen["accessToken"])
        fresh = (await identity.log_in(EMAIL))["accessToken"]
        for verifier in (renewing, asleep):
            assert (await verifier.caller_of(fresh)).roles == {"buyer"}
    answer = await identity.get("/api/profiles/current", token=stolen["accessToken"])
    assert (answer.status_code, answer.json()["code"]) == (401, "AUTH_UNAUTHORIZED")
    assert (await command(identity, "retire-keys", "--compromised", kid_of(stolen)))[1].startswith(
        "Nothing to do: key "
    )
    assert await published(identity) == [new]


async def test_the_next_key_steps_in_for_a_compromised_one(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    old = await signing_kid(identity)
    await command(identity, "rotate-keys")
    waiting = next(kid for kid in await published(identity) if kid != old)
    await command(identity, "retire-keys", "--compromised", old)
    assert (await published(identity), await signing_kid(identity)) == ([waiting], waiting)


async def test_a_compromised_key_that_does_not_sign_changes_nobody_s_signature(identity: Identity) -> None:
    await identity.sign_up(EMAIL)
    old = await signing_kid(identity)
    await command(identity, "rotate-keys")
    waiting = next(kid for kid in await published(identity) if kid != old)
    status, said = await command(identity, "retire-keys", "--compromised", waiting)
    assert (status, said) == (0, f"Key {waiting} is retired as compromised. Key {old} signs.\n")
    assert (await published(identity), await signing_kid(identity)) == ([old], old)


async def test_the_commands_refuse_what_they_do_not_know(identity: Identity) -> None:
    before = await published(identity)
    status, said = await command(identity, "retire-keys", "--compromised", "nobody")
    assert (status, "no signing key nobody" in said) == (1, True)
    for options in (("--compromised",), ("--force", "x"), ("", "x")):
        assert (await command(identity, "retire-keys", *options))[0] == 64
    assert await published(identity) == before


async def test_a_retired_key_keeps_its_name_and_loses_its_secret(identity: Identity) -> None:
    (kid,) = await published(identity)
    await command(identity, "retire-keys", "--compromised", kid)
    (row,) = await identity.service.fetch("SELECT * FROM signing_keys WHERE kid = $1", kid)
    assert (row["private_key_sealed"], row["retired_because"]) == (None, "compromised")


async def test_a_start_in_the_midst_of_a_rotation_makes_no_key(identity: Identity) -> None:
    await command(identity, "rotate-keys")
    dependencies = identity.dependencies
    for wait in (timedelta(), PUBLISHED_AHEAD, -timedelta(days=2)):
        identity.clock.advance(wait)
        await ensure_signing_key(dependencies.database, dependencies.signing_keys, now=identity.clock.now())
        assert len(await published(identity)) == 2


async def test_the_key_set_may_be_kept_for_as_long_as_the_rotation_allows(identity: Identity) -> None:
    answer = await identity.get("/.well-known/jwks.json")
    assert answer.headers["cache-control"] == f"public, max-age={KEY_SET_SECONDS}"
    assert timedelta(seconds=KEY_SET_SECONDS) < PUBLISHED_AHEAD

    async def asked_with(tag: str) -> httpx.Response:
        return await identity.client.get("/.well-known/jwks.json", headers={"If-None-Match": tag})

    tag = answer.headers["etag"]
    unchanged = await asked_with(f'"another", {tag}')
    assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", tag)
    await command(identity, "rotate-keys")
    changed = await asked_with(tag)
    assert (changed.status_code, len(changed.json()["keys"])) == (200, 2)
    assert changed.headers["etag"] != tag


async def test_the_age_shown_is_that_of_the_key_that_signs(identity: Identity) -> None:
    async def shown() -> float:
        await measure_signing_key_once(identity.dependencies.database, now=identity.clock.now())
        return float(SIGNING_KEY_TIME._value.get())

    first = await shown()
    assert first <= identity.clock.now().timestamp()
    identity.clock.advance(timedelta(days=400))
    assert (await command(identity, "rotate-keys"))[0] == 0
    assert await shown() == first
    identity.clock.advance(PUBLISHED_AHEAD + timedelta(minutes=1))
    assert await shown() == (identity.clock.now() - timedelta(minutes=1)).timestamp()
