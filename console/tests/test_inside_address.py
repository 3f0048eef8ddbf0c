"""The console calls the gateway over TLS, and does not start in production with a plain address of another machine."""

from pathlib import Path

import pytest
from starlette.responses import JSONResponse

from common.primitives.clock import SystemClock
from console.api import ApiConnection, ApiProblem
from console.session import SessionCookies
from console.settings import Settings
from testkit.certificates import Authority
from testkit.service_kit import served

KEY = "q8Rm2ZtV6yLw0sKd"


def settings(**changed: str) -> Settings:
    values = {"port": 8080, "metrics_port": 9090, "console_key": KEY, "base_url": "https://api.school.ng", **changed}
    return Settings(**values)


def test_production_refuses_a_plain_address_of_the_gateway() -> None:
    for address in ("http://api-gateway-api:8080", ""):
        given = {"environment": "production", "api_url": address, "base_url": "http://api.school.ng"}
        with pytest.raises(ValueError, match="API_URL: traffic to another machine without verified TLS"):
            settings(**given)
    for address in ("https://api-gateway-api:8080", "http://127.0.0.1:8080"):
        assert settings(environment="production", api_url=address).api_address == address


@pytest.mark.parametrize("is_known", [True, False])
async def test_console_reaches_only_a_gateway_that_it_verifies(
    tmp_path: Path, authority: Authority, is_known: bool
) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes((authority if is_known else Authority()).pem)
    async with served(JSONResponse({}), tls=authority.server_of(tmp_path, "127.0.0.1")) as url:
        cookies = SessionCookies(KEY, "", is_secure=True, clock=SystemClock())
        connection = ApiConnection(settings(api_url=url, inside_ca_file=str(file)), cookies)
        if is_known:
            assert (await connection.send("GET", "/api/health", headers={})).status_code == 200
        else:
            with pytest.raises(ApiProblem):
                await connection.send("GET", "/api/health", headers={})
        await connection.close()
