"""Signing in and out through the whole system: codes by SMS and mail, a password reset, and log-out everywhere."""

import re
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest_asyncio

from campus_tools.launcher.system import System
from operations.journey import Marketplace
from operations.processes import API_PORTS

PASSWORD = "the first good password"
NEW_PASSWORD = "the second good password"
# A log-out is effective everywhere within this time (contract section 5).
EVERYWHERE_SECONDS_MAX = 60


@dataclass(frozen=True)
class Newcomer:
    """A student of this test alone."""

    email: str
    phone: str


@pytest_asyncio.fixture(loop_scope="session")
async def newcomer(market: Marketplace) -> Newcomer:
    number = f"{uuid4().int % 10**7:07}"
    student = Newcomer(f"student{number}@unilag.edu.ng", f"+234803{number}")
    await market.sign_up(student.email, "Sola Ige", student.phone, password=PASSWORD)
    return student


async def received(market: Marketplace, to: str, channel: str, form: str) -> str:
    """Return the text of this form in a message to this user, alone on its line or between spaces."""

    async def probe() -> str | None:
        for message in await market.messages(to, channel):
            if found := re.search(rf"(?:^|\s)({form})(?=\s)", message["text"]):
                return found[1]
        return None

    return await market.until(f"a message to {to}", probe, 60)


def stands_in_logs(system: System, secret: str) -> list[str]:
    """Return the logs that contain it, but not as a part of a longer word or number."""
    alone = re.compile(rf"(?<![0-9A-Za-z.-]){re.escape(secret)}(?![0-9A-Za-z])")
    logs = sorted((system.state_dir / "logs").glob("*.log"))
    assert {"identity-api.log", "identity-worker.log", "notifications-worker.log", "api-gateway.log"} <= {
        log.name for log in logs
    }
    return [log.name for log in logs if alone.search(log.read_text(errors="replace"))]


async def test_codes_by_sms_and_mail_sign_in_and_are_in_no_log(
    system: System, market: Marketplace, newcomer: Newcomer
) -> None:
    await market.prove_number(await market.sign_in(newcomer.email, PASSWORD), newcomer.phone)
    (await market.sandbox.delete("/control/messages")).raise_for_status()
    for address, to, channel in (
        ({"phone": newcomer.phone}, newcomer.phone, "sms"),
        ({"email": newcomer.email}, newcomer.email, "email"),
    ):
        assert await market.post("/api/auth/otp", address) == {"expiresIn": 600}
        code = await received(market, to, channel, "[0-9]{6}")
        tokens = await market.post("/api/auth/otp/verify", {**address, "code": code})
        assert tokens["aal"] == "aal1"
        headers = {"Authorization": f"Bearer {tokens['accessToken']}"}
        profile = (await market.http.get("/api/profiles/current", headers=headers)).json()["data"]
        assert (profile["email"], profile["phone"]) == (newcomer.email, newcomer.phone)
        assert (profile["phoneConfirmed"], profile["emailConfirmed"]) == (True, True)
        again = await market.http.post("/api/auth/otp/verify", json={**address, "code": code})
        assert (again.status_code, again.json()["code"]) == (422, "VALIDATION_FAILED")
        assert stands_in_logs(system, code) == []


async def test_a_forgotten_password_is_reset_by_mail_and_its_token_is_in_no_log(
    system: System, market: Marketplace, newcomer: Newcomer
) -> None:
    before = await market.sign_in(newcomer.email, PASSWORD)
    assert await market.post("/api/auth/password/forgot", {"email": newcomer.email}) == {"expiresIn": 1800}
    token = await received(market, newcomer.email, "email", "[A-Za-z0-9_-]{40,}")
    response = await market.post("/api/auth/password/reset", {"token": token, "password": NEW_PASSWORD})
    # The session of the proof and this one.
    assert response == {"sessionsEnded": 2}
    old = await market.http.post("/api/auth/login", json={"email": newcomer.email, "password": PASSWORD})
    assert old.status_code == 401
    after = await market.sign_in(newcomer.email, NEW_PASSWORD)

    async def old_token_is_refused() -> bool | None:
        response = await market.http.get("/api/profiles/current", headers=before.headers)
        return True if response.status_code == 401 else None

    await market.until("the old token is refused", old_token_is_refused, EVERYWHERE_SECONDS_MAX)
    assert (await market.http.get("/api/profiles/current", headers=after.headers)).status_code == 200
    assert stands_in_logs(system, token) == []


async def test_logging_out_everywhere_is_effective_at_gateway_and_direct_services(
    system: System, market: Marketplace, newcomer: Newcomer
) -> None:
    here, there = [await market.sign_in(newcomer.email, PASSWORD) for _ in range(2)]
    sessions = await market.get("/api/auth/sessions", here)
    # The third is that of the proof.
    assert [session["current"] for session in sessions] == [False, True, False]
    orders = f"http://127.0.0.1:{system.port_base + API_PORTS['orders']}/api/orders"
    async with httpx.AsyncClient(trust_env=False, timeout=60) as direct:
        for user in (here, there):
            assert (await direct.get(orders, headers=user.headers)).status_code == 200
            assert (await market.http.get("/api/orders", headers=user.headers)).status_code == 200
        assert await market.post("/api/auth/logout-all", {}, here) == {"sessionsEnded": 3}
        # Signed in again within the same second or not: the new session is not meant.
        fresh = await market.sign_in(newcomer.email, PASSWORD)

        async def refused_everywhere() -> bool | None:
            responses = [
                response.status_code
                for user in (here, there)
                for response in (
                    await direct.get(orders, headers=user.headers),
                    await market.http.get("/api/orders", headers=user.headers),
                )
            ]
            return True if responses == [401] * 4 else None

        await market.until("both tokens are refused", refused_everywhere, EVERYWHERE_SECONDS_MAX)
        assert (await direct.get(orders, headers=fresh.headers)).status_code == 200
        assert (await market.http.get("/api/orders", headers=fresh.headers)).status_code == 200
