"""A passkey and a recovery code, each as the second factor of a student, through the gateway."""

from uuid import uuid4

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from testkit.authenticator import Authenticator

MFA = "/api/auth/mfa"


async def test_a_student_steps_up_with_a_passkey_and_comes_back_with_a_recovery_code(
    market: Marketplace, system: System
) -> None:
    address = f"keys-{uuid4().hex[:12]}@unilag.edu.ng"
    student = await market.sign_up(address, "Tola Keys", f"+234803{uuid4().int % 10**7:07d}")
    authenticator = Authenticator(system.console_url.replace("127.0.0.1", "localhost"))

    requested = await market.post(f"{MFA}/passkeys/options", {}, student)
    assert requested["publicKey"]["rp"]["id"] == authenticator.rp_id
    made = {
        "challengeId": requested["challengeId"],
        "name": "Phone",
        "credential": authenticator.make(requested["publicKey"]),
    }
    factor = await market.post(f"{MFA}/passkeys", made, student)
    assert [row["id"] for row in await market.get(f"{MFA}/factors", student)] == [factor["id"]]

    requested = await market.post(f"{MFA}/passkeys/assertion-options", {}, student)
    shown = {"challengeId": requested["challengeId"], "credential": authenticator.show(requested["publicKey"])}
    student.access_token = (await market.post(f"{MFA}/passkeys/verify", shown, student))["accessToken"]
    codes = (await market.post(f"{MFA}/recovery-codes", {}, student))["codes"]

    # Another day, and the phone is lost.
    later = await market.sign_in(address)
    refused = await market.http.delete(f"{MFA}/factors/{factor['id']}", headers=later.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    recovered = await market.post(f"{MFA}/verify", {"code": codes[0]}, later)
    assert (recovered["aal"], recovered["mfaRequired"]) == ("aal2", False)
    later.access_token = recovered["accessToken"]
    assert (await market.get(f"{MFA}/recovery-codes", later))["remaining"] == 9
    removed = await market.http.delete(f"{MFA}/factors/{factor['id']}", headers=later.headers)
    assert (removed.status_code, removed.headers["Cache-Control"]) == (200, "no-store")
    assert await market.get(f"{MFA}/factors", later) == []
