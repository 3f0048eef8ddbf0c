"""A key that somebody else has: revoked at once, everything redeployed, and what was done with it told."""

import time
from typing import Final

from common.auth.service_keys import fingerprint_of
from lab.drills.rotation.environment import DrillEnvironment, databases_opened, expect

# The specification, limits 7.
REVOKED_SECONDS_MAX: Final = 300.0
REDEPLOYED_SECONDS_MAX: Final = 900.0


async def revoke_compromised(drill: DrillEnvironment) -> None:
    """docs/runbooks/compromised-key.md: revoked within 5 minutes, redeployed within 15, and what was done with it."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    known, before = drill.secrets["SERVICE_ROLE_KEY"], drill.secrets
    expect((await drill.load.call_function(known)).status_code == 200, "the key is not valid to begin with")
    began = time.monotonic()
    drill.load.may_be_refused = True
    await drill.ctl("rotation", "begin", "service-role-key", "--compromised", "--yes")
    await drill.ctl("rotation", "roll")
    status = (await drill.load.call_function(known)).status_code
    expect(status == 401, f"the compromised key was answered {status}")
    revoked = time.monotonic() - began
    drill.load.service_key = drill.secrets["SERVICE_ROLE_KEY"]
    drill.record("service role key refused after", f"{revoked:.0f} s of {REVOKED_SECONDS_MAX:.0f}")
    expect(revoked <= REVOKED_SECONDS_MAX, "too late")

    began_passwords = time.monotonic()
    await drill.ctl("rotation", "begin", "database-passwords", "--yes")
    await drill.ctl("rotation", "roll")
    await drill.ctl("rotation", "end", "database-passwords", "--now", "--yes")
    revoked = time.monotonic() - began_passwords
    expect(await databases_opened(before) == 0, "a compromised password still opens a database")
    drill.load.may_be_refused = False
    drill.record("database passwords refused after", f"{revoked:.0f} s of {REVOKED_SECONDS_MAX:.0f}")
    expect(revoked <= REVOKED_SECONDS_MAX, "too late")

    redeploying = time.monotonic()
    rolled = await drill.ctl("rotation", "roll", "--every")
    seconds = time.monotonic() - redeploying
    drill.record(
        f"all {len(rolled['rolled'])} processes redeployed in", f"{seconds:.0f} s of {REDEPLOYED_SECONDS_MAX:.0f}"
    )
    expect(seconds <= REDEPLOYED_SECONDS_MAX, "too late")

    auditing = time.monotonic()
    fingerprint = fingerprint_of(known)
    lines = await drill.ctl("rotation", "trail", "service-role-key", "--since", since, "--named", fingerprint)
    uses = [line["what"] for line in lines]
    let_in, refused = uses.count("service call let in"), uses.count("service call refused")
    expect(let_in > 0 and refused > 0, "the trail does not tell what was done with the key")
    seen = f"{let_in} let in, {refused} refused, listed in {time.monotonic() - auditing:.0f} s"
    drill.record("trail of the compromised key", seen)
