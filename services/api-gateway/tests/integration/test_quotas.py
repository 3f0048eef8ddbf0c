"""The tiers at work (contract section 4)."""

import asyncio
import signal
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from api_gateway.metrics import Metrics
from api_gateway.sliding_window import Counter, SlidingWindows
from api_gateway.store_quotas import StoreQuotas
from campus_tools.servers.redis import PrivateRedis
from common.primitives.clock import ManualClock, SystemClock
from common.primitives.ids import new_id
from common.primitives.problems import Unavailable
from testkit.fixtures import DatabaseUrls, eventually
from testkit.frozen_proxy import frozen_proxy
from testkit.service_kit import Issuer

from .conftest import GatewayApp, OpenGateway, Upstream, edge_served, problem_of
from .gateway_process import running_process


async def test_the_61st_anonymous_request_is_429_with_a_true_time_to_wait(open_gateway: OpenGateway) -> None:
    app = await open_gateway()
    started_at = time.time()
    for number in range(60):
        response = await app.client.get("/api/products")
        assert response.status_code == 201
        assert response.headers["ratelimit-limit"] == "60"
        assert response.headers["ratelimit-remaining"] == str(59 - number)
    refused = await app.client.get("/api/products")
    assert (refused.status_code, problem_of(refused)["code"]) == (429, "RATE_LIMIT_EXCEEDED")
    assert refused.headers["ratelimit-remaining"] == "0"
    expires = started_at + 60
    assert expires - 1 <= int(refused.headers["ratelimit-reset"]) <= time.time() + 61
    assert time.time() + int(refused.headers["retry-after"]) >= expires
    assert (await app.client.get("/nowhere")).status_code == 429
    assert (await app.client.get("/health/liveness")).status_code == 200
    known = await app.client.get("/api/products", headers=app.bearer())
    assert (known.status_code, known.headers["ratelimit-limit"]) == (201, "300")


async def test_after_the_time_to_wait_a_request_is_admitted_and_not_before(open_gateway: OpenGateway) -> None:
    app, clock = await open_gateway(rate_tier_1=2), ManualClock(SystemClock().now())
    edge = replace(app.dependencies.edge, clock=clock)
    async with (
        edge_served(edge) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client,
    ):
        for _ in range(2):
            assert (await client.get("/api/products")).status_code == 201
        refused = await client.get("/api/products")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        clock.advance(timedelta(seconds=59))
        assert (await client.get("/api/products")).headers["retry-after"] == "1"
        clock.advance(timedelta(seconds=1))
        assert (await client.get("/api/products")).status_code == 201


async def test_one_counter_for_a_user_over_all_routes_and_tokens(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_2=3)
    user = new_id()
    for path in ("/api/orders", "/api/products", f"/api/orders/{uuid4()}"):
        assert (await app.client.get(path, headers=app.bearer(user))).status_code == 201
    assert (await app.client.get("/api/orders", headers=app.bearer(user))).status_code == 429
    assert (await app.client.get("/api/orders", headers=app.bearer())).status_code == 201


async def test_tier_4_is_a_counter_of_its_own(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4=2)
    user = new_id()

    async def intent() -> int:
        headers = app.bearer(user) | {"Idempotency-Key": str(uuid4())}
        return (await app.client.post("/api/payments/intent", json={}, headers=headers)).status_code

    assert [await intent() for _ in range(3)] == [201, 201, 429]
    assert (await app.client.get("/api/orders", headers=app.bearer(user))).status_code == 201


async def test_a_rejected_token_counts_against_its_address(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_1=3)
    bad = {"Authorization": "Bearer nonsense"}
    statuses = [(await app.client.get("/api/orders", headers=bad)).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]
    assert (await app.client.get("/api/products")).status_code == 429
    assert (await app.client.get("/api/products", headers=app.bearer())).status_code == 201


async def test_login_is_counted_by_account_with_a_ceiling_for_the_address(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4=3, rate_tier_4_address=5)

    async def login(email: str) -> int:
        return (await app.client.post("/api/auth/login", json={"email": email})).status_code

    assert [await login("ada@x.example") for _ in range(4)] == [201, 201, 201, 429]
    assert [await login("ADA@x.example"), await login("bola@x.example")] == [429, 201]
    assert [await login("chidi@x.example"), await login("dami@x.example")] == [201, 429]


async def test_codes_and_resets_are_counted_like_a_login_and_together_with_it(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4=4, rate_tier_4_address=7)

    async def status_of(path: str, **body: str) -> int:
        return (await app.client.post(f"/api/auth/{path}", json=body)).status_code

    ada = {"email": "ada@x.example"}
    first = [await status_of(path, **ada) for path in ("otp", "otp/verify", "password/forgot", "login", "otp")]
    assert first == [201, 201, 201, 201, 429]
    assert [await status_of("otp", phone=phone) for phone in ("08031234567", "+2348031234567")] == [201, 201]
    assert [await status_of("password/reset", token=token) for token in ("one", "two")] == [201, 429]


async def test_refresh_counts_its_session_though_the_token_rotates(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4=2)

    async def refresh(token: str) -> int:
        return (await app.client.post("/api/auth/refresh", json={"refreshToken": token})).status_code

    assert [await refresh(f"one.{number}") for number in range(3)] == [201, 201, 429]
    assert await refresh("two.0") == 201


async def refresh_status(app: GatewayApp, token: str, address: str = "203.0.113.1") -> int:
    headers = {"X-Forwarded-For": address}
    return (await app.client.post("/api/auth/refresh", json={"refreshToken": token}, headers=headers)).status_code


async def login_status(app: GatewayApp, email: str, address: str = "203.0.113.1") -> int:
    headers = {"X-Forwarded-For": address}
    return (await app.client.post("/api/auth/login", json={"email": email}, headers=headers)).status_code


async def test_refreshes_of_many_sessions_use_up_no_sign_in_of_their_address(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4_address=3, rate_refused_refreshes=3)
    assert {await refresh_status(app, f"{number}.a") for number in range(20)} == {201}
    assert await login_status(app, "ada@x.example") == 201


async def test_refused_refreshes_have_a_ceiling_that_stops_neither_valid_ones_nor_sign_ins(
    open_gateway: OpenGateway,
) -> None:
    app = await open_gateway(rate_refused_refreshes=3, rate_tier_4_address=2, trusted_proxies="127.0.0.0/8")
    app.upstream.response = (401, {"code": "AUTH_UNAUTHORIZED"})
    assert [await refresh_status(app, f"{uuid4()}.junk") for _ in range(5)] == [401, 401, 401, 429, 429]
    assert await refresh_status(app, "no token") == 429
    assert await refresh_status(app, f"{uuid4()}.junk", "203.0.113.2") == 401
    app.upstream.response = (201, {"success": True})
    assert await refresh_status(app, f"{uuid4()}.valid") == 201
    assert [await login_status(app, f"{name}@x.example") for name in ("a", "b", "c")] == [201, 201, 429]


async def test_a_refresh_without_a_token_counts_as_a_refused_one(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_refused_refreshes=2, rate_tier_4=1)
    statuses = [(await app.client.post("/api/auth/refresh", json={})).status_code for _ in range(3)]
    assert statuses == [201, 201, 429]


async def test_a_shared_address_has_the_ceilings_of_many(open_gateway: OpenGateway) -> None:
    app = await open_gateway(
        rate_tier_1=1,
        rate_tier_4=1,
        rate_tier_4_address=2,
        rate_shared_addresses="198.51.100.0/24, 2001:db8:17::/48",
        rate_shared_factor=3,
        trusted_proxies="127.0.0.0/8",
    )

    async def browse(address: str) -> int:
        return (await app.client.get("/api/products", headers={"X-Forwarded-For": address})).status_code

    assert [await browse("203.0.113.1") for _ in range(2)] == [201, 429]
    for address in ("198.51.100.7", "2001:db8:17:5::9"):
        assert [await browse(address) for _ in range(4)] == [201, 201, 201, 429]
        emails = [f"{number}@x.example" for number in range(7)]
        assert [await login_status(app, email, address) for email in emails] == [201] * 6 + [429]
    # The counter of one account stays: its guesses are not those of a campus.
    assert [await login_status(app, "ada@x.example", "198.51.100.8") for _ in range(2)] == [201, 429]


async def test_a_mailbox_counts_once_whatever_tag_follows_it(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4=2)
    assert [await login_status(app, f"ada+{tag}@x.example") for tag in ("a", "b", "c")] == [201, 201, 429]


async def test_after_a_trusted_proxy_each_client_is_counted(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_1=1, trusted_proxies="127.0.0.0/8")

    async def browse(address: str) -> int:
        return (await app.client.get("/api/products", headers={"X-Forwarded-For": address})).status_code

    assert [await browse("203.0.113.1"), await browse("203.0.113.1"), await browse("203.0.113.2")] == [201, 429, 201]


async def test_after_a_named_proxy_each_client_is_counted(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_4_address=1, trusted_proxies="localhost")

    async def login(address: str) -> int:
        here, body = {"X-Forwarded-For": address}, {"email": f"{address}@x.example"}
        return (await app.client.post("/api/auth/login", json=body, headers=here)).status_code

    assert [await login("203.0.113.1"), await login("203.0.113.1"), await login("203.0.113.2")] == [201, 429, 201]


async def test_a_header_cannot_reset_the_quota(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_1=1)
    statuses = [
        (await app.client.get("/api/products", headers={"X-Forwarded-For": f"203.0.113.{number}"})).status_code
        for number in range(3)
    ]
    assert statuses == [201, 429, 429]


async def test_machines_are_outside_of_the_tiers(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_1=1, rate_machines=3)
    results = [await app.client.post("/functions/v1/gateway-webhook", content=b"{}") for _ in range(4)]
    assert [response.status_code for response in results] == [201, 201, 201, 429]
    assert results[0].headers["ratelimit-limit"] == "3"
    assert (await app.client.get("/api/products")).status_code == 201


async def test_images_are_counted_in_a_tier_of_their_own_by_address(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_1=1, rate_tier_media=3)
    image, user = f"/media/{uuid4()}", app.bearer()
    results = [
        await app.client.get(path, headers=headers)
        for path, headers in ((image, {}), (f"{image}/thumbnail", {}), (image, user), (image, {}))
    ]
    assert [response.status_code for response in results] == [201, 201, 201, 429]
    assert results[0].headers["ratelimit-policy"] == '"media";q=3;w=60'
    assert [response.headers["ratelimit-remaining"] for response in results] == ["2", "1", "0", "0"]
    assert (await app.client.get("/api/products")).status_code == 201


async def test_a_rejected_token_on_an_image_counts_against_the_images_of_its_address(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_tier_media=1)
    bad = {"Authorization": "Bearer nonsense"}
    image = f"/media/{uuid4()}"
    assert [(await app.client.get(image, headers=bad)).status_code for _ in range(2)] == [401, 429]


async def test_two_gateways_with_a_store_share_one_window(
    open_gateway: OpenGateway, private_redis: PrivateRedis
) -> None:
    settings = {"rate_limit_store_url": private_redis.url, "rate_tier_2": 20}
    gateways = [await open_gateway(**settings), await open_gateway(**settings)]
    user = new_id()

    async def read(app: GatewayApp) -> tuple[int, int, int]:
        response = await app.client.get("/api/orders", headers=app.bearer(user))
        headers = response.headers
        return response.status_code, int(headers["ratelimit-remaining"]), int(headers["ratelimit-reset"])

    results = await asyncio.gather(*(read(gateways[number % 2]) for number in range(30)))
    assert sorted(status for status, _, _ in results) == [201] * 20 + [429] * 10
    assert sorted(remaining for status, remaining, _ in results if status == 201) == list(range(20))
    assert all(time.time() + 40 < reset <= time.time() + 61 for _, _, reset in results)


async def test_a_store_counts_account_and_address_together_or_not_at_all(
    open_gateway: OpenGateway, private_redis: PrivateRedis
) -> None:
    settings = {"rate_tier_4": 2, "rate_tier_4_address": 4, "trusted_proxies": "127.0.0.1/32"}
    app = await open_gateway(rate_limit_store_url=private_redis.url, **settings)
    # The store is shared with the other tests of the module: no other test counts this address.
    here = {"X-Forwarded-For": "203.0.113.77"}

    async def login(email: str) -> int:
        return (await app.client.post("/api/auth/login", json={"email": email}, headers=here)).status_code

    assert [await login("ada@x.example") for _ in range(6)] == [201, 201, 429, 429, 429, 429]
    assert [await login(f"{name}@x.example") for name in ("b", "c", "d")] == [201, 201, 429]


async def test_without_its_store_tier_4_rejects_and_the_rest_counts_in_the_process(open_gateway: OpenGateway) -> None:
    app = await open_gateway(rate_limit_store_url="redis://127.0.0.1:9/0", rate_tier_2=2)
    user = new_id()
    reads = [(await app.client.get("/api/orders", headers=app.bearer(user))).status_code for _ in range(3)]
    assert reads == [201, 201, 429]
    login = await app.client.post("/api/auth/login", json={"email": "a@x.example"})
    assert (login.status_code, problem_of(login)["code"]) == (503, "INTERNAL_ERROR")
    assert "retry-after" in login.headers
    assert not [seen for seen in app.upstream.seen if seen["path"] == "/api/auth/login"]
    assert dict(app.dependencies.edge.metrics.quota_fallback) == {"counted here": 3, "refused": 1}


async def test_a_store_that_comes_back_counts_again(open_gateway: OpenGateway, private_redis: PrivateRedis) -> None:
    app = await open_gateway(rate_limit_store_url=private_redis.url)

    async def login() -> int:
        return (await app.client.post("/api/auth/login", json={"email": f"{uuid4()}@x.example"})).status_code

    private_redis.kill()
    assert await login() == 503
    private_redis.start()

    async def counts() -> bool:
        return await login() == 201

    assert await eventually(counts)


async def test_a_store_that_freezes_is_given_up_at_once(private_redis: PrivateRedis) -> None:
    async with frozen_proxy(private_redis.url) as (proxy, url):
        windows = SlidingWindows(60)
        quotas, counter = StoreQuotas(url, windows, Metrics(), seconds_max=0.5), Counter("2", str(uuid4()), 5)
        assert (await quotas.count([counter], 1, strict=False)).remaining == 4
        proxy.freeze()
        began = time.monotonic()
        # Counted in this process, which knows nothing of the store's first one.
        assert (await quotas.count([counter], 1, strict=False)).remaining == 4
        with pytest.raises(Unavailable):
            await quotas.count([counter], 1, strict=True)
        assert time.monotonic() - began < 5
        await quotas.close()


async def test_processes_that_come_and_go_share_one_window_to_the_request(
    module_urls: DatabaseUrls, broker_url: str, upstream: Upstream, issuer: Issuer, private_redis: PrivateRedis
) -> None:
    """Three gateways, one of them killed in the middle of a burst and started again: not one request too many, none too
    few.
    """
    settings = {"RATE_LIMIT_STORE_URL": private_redis.url, "RATE_TIER_2": "60", "RATE_WINDOW_SECONDS": "600"}
    user = new_id()
    token = {"Authorization": f"Bearer {issuer.token(user)}"}
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(running_process(module_urls, broker_url, issuer, upstream.url, **settings))
            for _ in range(3)
        ]

        async def read(number: int) -> int | None:
            try:
                return (await opened[number % 3][1].get("/api/orders", headers=token)).status_code
            except httpx.TransportError:
                # It is unknown whether the request to the killed store was counted.
                return None

        before = await asyncio.gather(*(read(number) for number in range(30)))
        assert before == [201] * 30
        await opened[0][0].end(signal.SIGKILL)
        await opened[0][0].start()
        after = await asyncio.gather(*(read(number) for number in range(90)))
        assert sorted(status or 0 for status in after) == [201] * 30 + [429] * 60


async def test_a_burst_of_one_does_not_reduce_the_quota_of_another(open_gateway: OpenGateway) -> None:
    """A caller beyond their quota is rejected; five requests of another caller get five responses."""
    # The window outlasts the burst, however long that takes.
    app = await open_gateway(rate_tier_2=50, rate_window_seconds=600)
    greedy, modest = app.bearer(new_id()), app.bearer(new_id())

    async def statuses(headers: dict[str, str], number: int) -> list[int]:
        probes = (app.client.get("/api/orders", headers=headers) for _ in range(number))
        return sorted(response.status_code for response in await asyncio.gather(*probes))

    greedy_statuses, modest_statuses = await asyncio.gather(statuses(greedy, 200), statuses(modest, 5))
    assert greedy_statuses == [201] * 50 + [429] * 150
    assert modest_statuses == [201] * 5
