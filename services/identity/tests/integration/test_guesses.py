"""The metrics of guesses over many accounts, and of requests beyond a budget."""

from datetime import timedelta

from prometheus_client import REGISTRY

from identity.timers import record_guessed_accounts_once

from .code_steps import code_for, wrong
from .conftest import IdentityApp


def guessed() -> dict[str, float | None]:
    return {by: REGISTRY.get_sample_value("identity_guessed_accounts", {"by": by}) for by in ("password", "code")}


async def test_guesses_spread_over_accounts_are_counted_by_account_for_an_hour(app: IdentityApp) -> None:
    emails = [f"student{number}@unilag.edu.ng" for number in range(3)]
    for email in emails:
        await app.sign_up(email)
    for email in emails:
        code = await code_for(app, email=email)
        for number in range(2):
            source = f"203.0.113.{number}"
            await app.post("/api/auth/login", {"email": email, "password": "a leaked password"}, source=source)
            await app.post("/api/auth/otp/verify", {"email": email, "code": wrong(code)}, source=source)
    await app.post("/api/auth/login", {"email": "nobody@unilag.edu.ng", "password": "a leaked password"})
    await record_guessed_accounts_once(app.dependencies)
    assert guessed() == {"password": 4, "code": 3}
    app.clock.advance(timedelta(hours=1))
    await record_guessed_accounts_once(app.dependencies)
    assert guessed() == {"password": 0, "code": 0}


async def test_a_request_beyond_a_budget_is_counted_by_its_kind(app: IdentityApp) -> None:
    def refused() -> float:
        return REGISTRY.get_sample_value("identity_messages_refused_total", {"budget": "mail"}) or 0.0

    before = refused()
    for _ in range(6):
        await app.post("/api/auth/otp", {"email": "nobody@unilag.edu.ng"})
    assert refused() == before + 1
