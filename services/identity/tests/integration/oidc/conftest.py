"""Fixtures: an institution's identity provider, and a browser between it and the service."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from common.primitives.clock import ManualClock
from testkit.oidc_provider import OidcProvider, oidc_provider
from testkit.service_kit import BASE_URL

from ..conftest import IdentityApp
from .browser import CALLBACK, EMAIL, Browser


@pytest_asyncio.fixture
async def provider(clock: ManualClock) -> AsyncIterator[OidcProvider]:
    async with oidc_provider(clock) as opened:
        opened.redirect_uri = f"{BASE_URL}{CALLBACK}"
        opened.user = {"sub": "248289761001", "email": EMAIL, "email_verified": True}
        yield opened


@pytest.fixture
def more_settings(provider: OidcProvider) -> dict[str, Any]:
    entry = {
        "issuer": provider.issuer,
        "clientId": provider.client_id,
        "clientSecret": provider.client_secret,
        "emailDomains": ["School.example"],
        "aal2Acr": ["https://refeds.org/profile/mfa", "otp"],
    }
    return {
        "oidc_allow_loopback": True,
        "oidc_providers": [{"name": "school", **entry}, {"name": "other", **entry}],
        "allowed_origins": "https://console.example,http://localhost:*",
    }


@pytest.fixture
def browser(app: IdentityApp, provider: OidcProvider) -> Browser:
    return Browser(app, provider)
