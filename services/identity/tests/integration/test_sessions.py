"""Sign-up, login, refresh, log-out (contract sections 5, 10 and 15.1)."""

from .conftest import Identity


async def test_a_new_person_signs_up_logs_in_and_reads_their_profile(identity: Identity) -> None:
    user_id = await identity.sign_up("  Tola@UNILAG.edu.ng ", phone="0803 123 4567")
    tokens = await identity.log_in("tola@unilag.edu.ng")
    assert tokens["tokenType"] == "Bearer"
    assert tokens["expiresIn"] == 900
    assert tokens["aal"] == "aal1"
    assert tokens["mfaRequired"] is False
    profile = (await identity.get("/api/profiles/current", token=tokens["accessToken"])).json()["data"]
    assert profile["id"] == str(user_id)
    assert profile["email"] == "tola@unilag.edu.ng"
    assert profile["phone"] == "+2348031234567"
    assert profile["roles"] == ["buyer"]
