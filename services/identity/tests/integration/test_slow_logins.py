"""Failed logins slow down; the owner always gets in (contract section 5)."""

import asyncio

from identity.credentials.login_throttle import WAITING_MAX, LoginThrottle

from .code_steps import EMAIL
from .conftest import IdentityApp


async def test_failed_logins_slow_known_and_unknown_accounts_alike_and_the_owner_gets_in(
    app: IdentityApp,
) -> None:
    await app.sign_up(EMAIL)
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    app.dependencies.password_verifier.throttle.pause = pause
    slowed = {}
    for email in (EMAIL, "nobody@unilag.edu.ng"):
        waited.clear()
        for _ in range(8):
            await app.post("/api/auth/login", {"email": email.upper(), "password": "a wrong password"})
        slowed[email] = list(waited)
    assert slowed[EMAIL] == slowed["nobody@unilag.edu.ng"] == [0.25, 0.5, 1.0]
    waited.clear()
    await app.log_in(EMAIL)
    assert waited == [2.0]
    await app.log_in(EMAIL)
    assert waited == [2.0]


async def test_no_more_logins_wait_at_once_than_there_is_room_for(app: IdentityApp) -> None:
    paused, go_on = 0, asyncio.Event()

    async def pause(_: float) -> None:
        nonlocal paused
        paused += 1
        await go_on.wait()

    throttle = LoginThrottle(pause)
    waiting = [asyncio.create_task(throttle.wait(1)) for _ in range(WAITING_MAX)]
    await asyncio.sleep(0)
    await throttle.wait(1)
    assert paused == WAITING_MAX
    go_on.set()
    await asyncio.gather(*waiting)
    await throttle.wait(1)
    assert paused == WAITING_MAX + 1
