"""The rotations with an overlap, as in their runbooks."""

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Final

import jwt

from lab.drills.rotation.certificates import rotate_certificates
from lab.drills.rotation.dns_token import rotate_dns_token
from lab.drills.rotation.encrypted_values import EarlierValues, starts_with_the_old_key, undelivered
from lab.drills.rotation.environment import DrillEnvironment, databases_opened, expect, log
from lab.drills.rotation.failures import DrillFailed
from operations.secrets import new_key

# Tokens expire after fifteen minutes, their key a minute later; a new key signs 90 s after its creation. Messages in
# flight end with the retry ladder, after thirteen minutes.
REENCRYPTED_SECONDS_MAX: Final = 900.0
_RENEWED: Final = re.compile(r"(\d+) re-encrypted")
RETIRED_SECONDS_MAX: Final = 1_500.0
ALL: Final = ("signing", "gateway", "service", "database", "ai", "sealing", "pin", "dns", "certificates")


async def rotate(drill: DrillEnvironment, chosen: Sequence[str]) -> None:
    """Rotate the chosen secrets; signing keys first and last, because tokens of the old key are still valid."""
    signing = None
    if "signing" in chosen:
        log("signing keys: published now, retired at the end")
        signing = await start_signing_keys(drill)
    for name, what, rotation in (
        ("gateway", "gateway secret", rotate_gateway_secret),
        ("service", "service role key", rotate_service_role_key),
        ("database", "database passwords", rotate_database_passwords),
        ("ai", "AI key", rotate_ai_key),
        ("sealing", "sealing key", rotate_sealing_key),
        ("pin", "PIN key", rotate_pin_key),
        ("dns", "DNS token", rotate_dns_token),
        ("certificates", "certificates inside", rotate_certificates),
    ):
        if name in chosen:
            log(what)
            await rotation(drill)
    if signing is not None:
        log("signing keys: waiting until the last token of the old key expires")
        await retire_signing_keys(drill, *signing)


async def rotate_gateway_secret(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-gateway-secret.md"""
    old, new = drill.secrets["GATEWAY_SECRET_KEY"], f"sk_drill_{new_key()}"
    await drill.company_keys(old, new)
    await drill.ctl("rotation", "begin", "gateway-secret-key", "--yes", new_secret=new)
    await drill.ctl("rotation", "roll")
    await drill.company_keys(new, old)
    drill.load.webhook_key = new
    await drill.may_revoke()
    await drill.ctl("rotation", "end", "gateway-secret-key", "--yes")
    await drill.ctl("rotation", "roll")
    await drill.company_keys(new)
    status = (await drill.load.call_webhook(old)).status_code
    expect(status == 401, f"the response to a webhook under the old secret is {status}, expected 401")
    expect((await drill.load.call_webhook(new)).status_code == 200, "a webhook under the new secret was rejected")
    drill.record("gateway secret: old one, new one", f"{status}, 200")


async def rotate_service_role_key(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-service-role-key.md"""
    old = drill.secrets["SERVICE_ROLE_KEY"]
    await drill.ctl("rotation", "begin", "service-role-key", "--yes")
    await drill.ctl("rotation", "roll")
    new = drill.secrets["SERVICE_ROLE_KEY"]
    for key in (old, new):
        expect((await drill.load.call_function(key)).status_code == 200, "one of the two keys was rejected")
    drill.load.service_key = new
    await drill.may_revoke()
    await drill.ctl("rotation", "end", "service-role-key", "--yes")
    await drill.ctl("rotation", "roll")
    status = (await drill.load.call_function(old)).status_code
    expect(status == 401, f"the response to a function call with the old key is {status}, expected 401")
    drill.record("service role key: old one, new one", f"{status}, {(await drill.load.call_function(new)).status_code}")


async def rotate_database_passwords(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-database-passwords.md"""
    before = drill.secrets
    await drill.ctl("rotation", "begin", "database-passwords", "--yes")
    for secrets in (before, drill.secrets):
        expect(await databases_opened(secrets) == 12, "one of the two passwords of a database was rejected")
    await drill.ctl("rotation", "roll")
    await drill.may_revoke()
    await drill.ctl("rotation", "end", "database-passwords", "--yes")
    old, new = await databases_opened(before), await databases_opened(drill.secrets)
    expect((old, new) == (0, 12), f"the old passwords open {old} accounts, the new ones {new} of 12")
    drill.record("database passwords: opened by the old ones, by the new ones", f"{old}, {new} of 12")


async def rotate_ai_key(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-ai-key.md"""
    old, new = drill.secrets["AI_API_KEY"], f"ai_drill_{new_key()}"
    drill.company.keys.add(new)
    await drill.ctl("rotation", "begin", "ai-provider-key", "--yes", new_secret=new)
    await drill.ctl("rotation", "roll")
    before = drill.company.responses.get(old, 0)
    await drill.may_revoke()
    expect(drill.company.responses.get(old, 0) == before, "the provider still received the old key")
    drill.company.keys.discard(old)
    await asyncio.sleep(drill.overlap_seconds / 4)
    drill.record(
        "AI key: requests with the old key after the roll, with the new key", f"0, {drill.company.responses[new]}"
    )


async def rotate_sealing_key(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-sealing-keys.md"""
    await _rotate_encrypting_key(drill, "sealing-key", "SEALING_KEY", ("identity", "payouts", "notifications"))


async def rotate_pin_key(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-sealing-keys.md"""
    await _rotate_encrypting_key(drill, "pin-key", "PIN_KEY", ("orders",))


async def _rotate_encrypting_key(
    drill: DrillEnvironment, secret: str, variable: str, services: tuple[str, ...]
) -> None:
    before, undelivered_before = drill.secrets[variable], await undelivered(drill)
    earlier = await EarlierValues.made(drill)
    await drill.ctl("rotation", "begin", secret, "--yes")
    await drill.ctl("rotation", "roll")
    await earlier.use()
    await drill.ctl("rotation", "switch", secret, "--yes")
    await drill.ctl("rotation", "roll")
    await earlier.use()
    renewed = await _reencrypted(drill, secret)
    await drill.may_revoke()
    await drill.ctl("rotation", "end", secret, "--yes")
    await drill.ctl("rotation", "roll")
    await earlier.use()
    still = await starts_with_the_old_key(drill, {variable: before}, services)
    expect(not still, f"{', '.join(still)} can still be started with the old {secret}")
    lost = await undelivered(drill) - undelivered_before
    expect(lost == 0, f"{lost} messages with a PIN or a code failed")
    drill.record(
        f"{secret}: values re-encrypted, services that the old one still opens", f"{renewed}, none of {len(services)}"
    )


async def _reencrypted(drill: DrillEnvironment, secret: str) -> int:
    """Re-encrypt until no value has the old key: messages in flight at the switch are processed later."""
    deadline, renewed = time.monotonic() + REENCRYPTED_SECONDS_MAX, 0
    while True:
        lines = await drill.ctl("rotation", "re-encrypt", secret)
        renewed += sum(int(number) for line in lines for number in _RENEWED.findall(line["said"]))
        if all(line["done"] for line in lines):
            return renewed
        if time.monotonic() > deadline:
            raise DrillFailed(f"values remain under the old {secret}: {lines}")
        await asyncio.sleep(5)


async def start_signing_keys(drill: DrillEnvironment) -> tuple[str, str]:
    """docs/runbooks/rotate-signing-keys.md, first half; the id of the signing key and one of its tokens."""
    token = drill.load.token
    await drill.ctl("rotation", "begin", "jwt-signing-keys", "--yes")
    return _kid_of(token), token


async def retire_signing_keys(drill: DrillEnvironment, old_kid: str, old_token: str) -> None:
    """docs/runbooks/rotate-signing-keys.md, second half: retire the old key when its last token has expired."""
    deadline = time.monotonic() + RETIRED_SECONDS_MAX
    while "Retired" not in (
        result := await drill.ctl("rotation", "end", "jwt-signing-keys", "--yes", may_fail=True)
    ).get("said", ""):
        if time.monotonic() > deadline:
            raise DrillFailed(f"the old signing key was not retired: {result}")
        await asyncio.sleep(20)
    new_kid = _kid_of((await drill.load.market.sign_in("buyer2@unilag.edu.ng")).access_token)
    published = {key["kid"] for key in (await drill.load.market.http.get("/.well-known/jwks.json")).json()["keys"]}
    expect(published == {new_kid} != {old_kid}, f"the published keys are {published}, expected {new_kid} only")
    # Verifiers drop a withdrawn key within half a minute.
    await asyncio.sleep(30)
    refused = await drill.load.market.http.get("/api/orders", headers={"Authorization": f"Bearer {old_token}"})
    expect(refused.status_code == 401, f"the response to a token of the old key is {refused.status_code}, expected 401")
    drill.record("signing keys: token of the old one", f"{refused.status_code} {refused.json()['code']}")


def _kid_of(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])
