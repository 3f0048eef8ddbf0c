"""The rotations with an overlap, each as its runbook describes it."""

import asyncio
import re
import time
from typing import Final

import jwt

from lab.drills.rotation.encrypted_values import EarlierValues, starts_with_the_old_key, undelivered
from lab.drills.rotation.stage import DrillFailed, Stage, databases_opened, expect, say
from operations.secrets import new_key

# A token lives a quarter of an hour, and the key that signed it a minute more; the new one signs a minute and a half after it was made.
# Messages in flight end with the retry ladder, after thirteen minutes.
REENCRYPTED_SECONDS_MAX: Final = 900.0
_RENEWED: Final = re.compile(r"(\d+) encrypted anew")
RETIRED_SECONDS_MAX: Final = 1_500.0
ALL: Final = ("signing", "gateway", "service", "database", "ai", "sealing", "pin")


async def rotate(stage: Stage, only: list[str] | None) -> None:
    """Those that are asked for; the signing keys around the others, since a token of the old one lives on."""
    chosen = only or ALL
    signing = None
    if "signing" in chosen:
        say("signing keys: published now, retired at the end")
        signing = await begin_signing_keys(stage)
    for name, what, rotation in (
        ("gateway", "gateway secret", rotate_gateway_secret),
        ("service", "service role key", rotate_service_role_key),
        ("database", "database passwords", rotate_database_passwords),
        ("ai", "AI key", rotate_ai_key),
        ("sealing", "sealing key", rotate_sealing_key),
        ("pin", "PIN key", rotate_pin_key),
    ):
        if name in chosen:
            say(what)
            await rotation(stage)
    if signing is not None:
        say("signing keys: waiting for the end of the last token of the old one")
        await end_signing_keys(stage, *signing)


async def rotate_gateway_secret(stage: Stage) -> None:
    """docs/runbooks/rotate-gateway-secret.md"""
    old, new = stage.kept["GATEWAY_SECRET_KEY"], f"sk_drill_{new_key()}"
    await stage.company_keys(old, new)
    await stage.ctl("rotation", "begin", "gateway-secret-key", "--yes", new_secret=new)
    await stage.ctl("rotation", "roll")
    await stage.company_keys(new, old)
    stage.load.webhook_key = new
    await stage.may_revoke()
    await stage.ctl("rotation", "end", "gateway-secret-key", "--yes")
    await stage.ctl("rotation", "roll")
    await stage.company_keys(new)
    status = (await stage.load.call_webhook(old)).status_code
    expect(status == 401, f"a webhook under the old secret was answered {status}")
    expect((await stage.load.call_webhook(new)).status_code == 200, "a webhook under the new secret was refused")
    stage.note("gateway secret: old one, new one", f"{status}, 200")


async def rotate_service_role_key(stage: Stage) -> None:
    """docs/runbooks/rotate-service-role-key.md"""
    old = stage.kept["SERVICE_ROLE_KEY"]
    await stage.ctl("rotation", "begin", "service-role-key", "--yes")
    await stage.ctl("rotation", "roll")
    new = stage.kept["SERVICE_ROLE_KEY"]
    for key in (old, new):
        expect((await stage.load.call_function(key)).status_code == 200, "one of the two keys was refused")
    stage.load.service_key = new
    await stage.may_revoke()
    await stage.ctl("rotation", "end", "service-role-key", "--yes")
    await stage.ctl("rotation", "roll")
    status = (await stage.load.call_function(old)).status_code
    expect(status == 401, f"a function under the old key was answered {status}")
    stage.note("service role key: old one, new one", f"{status}, {(await stage.load.call_function(new)).status_code}")


async def rotate_database_passwords(stage: Stage) -> None:
    """docs/runbooks/rotate-database-passwords.md"""
    before = stage.kept
    await stage.ctl("rotation", "begin", "database-passwords", "--yes")
    for kept in (before, stage.kept):
        expect(await databases_opened(kept) == 12, "one of the two passwords of a database was refused")
    await stage.ctl("rotation", "roll")
    await stage.may_revoke()
    await stage.ctl("rotation", "end", "database-passwords", "--yes")
    old, new = await databases_opened(before), await databases_opened(stage.kept)
    expect((old, new) == (0, 12), f"the old passwords open {old} accounts, the new ones {new} of 12")
    stage.note("database passwords: opened by the old ones, by the new ones", f"{old}, {new} of 12")


async def rotate_ai_key(stage: Stage) -> None:
    """docs/runbooks/rotate-ai-key.md"""
    old, new = stage.kept["AI_API_KEY"], f"ai_drill_{new_key()}"
    stage.company.keys.add(new)
    await stage.ctl("rotation", "begin", "ai-provider-key", "--yes", new_secret=new)
    await stage.ctl("rotation", "roll")
    before = stage.company.answered.get(old, 0)
    await stage.may_revoke()
    expect(stage.company.answered.get(old, 0) == before, "the provider was still asked with the old key")
    stage.company.keys.discard(old)
    await asyncio.sleep(stage.overlap_seconds / 4)
    stage.note("AI key: asked with the old one after the roll, with the new one", f"0, {stage.company.answered[new]}")


async def rotate_sealing_key(stage: Stage) -> None:
    """docs/runbooks/rotate-sealing-keys.md"""
    await _rotate_encrypting_key(stage, "sealing-key", "SEALING_KEY", ("identity", "payouts", "notifications"))


async def rotate_pin_key(stage: Stage) -> None:
    """docs/runbooks/rotate-sealing-keys.md"""
    await _rotate_encrypting_key(stage, "pin-key", "PIN_KEY", ("orders",))


async def _rotate_encrypting_key(stage: Stage, secret: str, variable: str, services: tuple[str, ...]) -> None:
    before, undelivered_before = stage.kept[variable], await undelivered(stage)
    earlier = await EarlierValues.made(stage)
    await stage.ctl("rotation", "begin", secret, "--yes")
    await stage.ctl("rotation", "roll")
    await earlier.use()
    await stage.ctl("rotation", "switch", secret, "--yes")
    await stage.ctl("rotation", "roll")
    await earlier.use()
    renewed = await _reencrypted(stage, secret)
    await stage.may_revoke()
    await stage.ctl("rotation", "end", secret, "--yes")
    await stage.ctl("rotation", "roll")
    await earlier.use()
    still = await starts_with_the_old_key(stage, {variable: before}, services)
    expect(not still, f"{', '.join(still)} can still be started with the old {secret}")
    lost = await undelivered(stage) - undelivered_before
    expect(lost == 0, f"{lost} messages with a PIN or a code were given up")
    stage.note(
        f"{secret}: values encrypted anew, services that the old one still opens", f"{renewed}, none of {len(services)}"
    )


async def _reencrypted(stage: Stage, secret: str) -> int:
    """Again until nothing is under the old key: what was in flight at the switch may be processed a moment later."""
    deadline, renewed = time.monotonic() + REENCRYPTED_SECONDS_MAX, 0
    while True:
        lines = await stage.ctl("rotation", "re-encrypt", secret)
        renewed += sum(int(number) for line in lines for number in _RENEWED.findall(line["said"]))
        if all(line["done"] for line in lines):
            return renewed
        if time.monotonic() > deadline:
            raise DrillFailed(f"values remain under the old {secret}: {lines}")
        await asyncio.sleep(5)


async def begin_signing_keys(stage: Stage) -> tuple[str, str]:
    """docs/runbooks/rotate-signing-keys.md, its first half; the key that signs now, and a token of it."""
    token = stage.load.token
    await stage.ctl("rotation", "begin", "jwt-signing-keys", "--yes")
    return _kid_of(token), token


async def end_signing_keys(stage: Stage, old_kid: str, old_token: str) -> None:
    """Its second half: retired as soon as the command finds that no token can live."""
    deadline = time.monotonic() + RETIRED_SECONDS_MAX
    while "Retired" not in (said := await stage.ctl("rotation", "end", "jwt-signing-keys", "--yes", may_fail=True)).get(
        "said", ""
    ):
        if time.monotonic() > deadline:
            raise DrillFailed(f"the old signing key was not retired: {said}")
        await asyncio.sleep(20)
    new_kid = _kid_of((await stage.load.market.sign_in("buyer2@unilag.edu.ng")).access_token)
    published = {key["kid"] for key in (await stage.load.market.http.get("/.well-known/jwks.json")).json()["keys"]}
    expect(published == {new_kid} != {old_kid}, f"published are {published}")
    # Verifiers forget a withdrawn key within half a minute.
    await asyncio.sleep(30)
    refused = await stage.load.market.http.get("/api/orders", headers={"Authorization": f"Bearer {old_token}"})
    expect(refused.status_code == 401, f"a token of the old key was answered {refused.status_code}")
    stage.note("signing keys: token of the old one", f"{refused.status_code} {refused.json()['code']}")


def _kid_of(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])
