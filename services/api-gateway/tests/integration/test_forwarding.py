"""What passes through the gateway, in both directions."""

from typing import Any


async def test_a_request_reaches_its_service_and_its_answer_the_client(gateway: Any) -> None:
    gateway.upstream.answer = (200, {"success": True, "data": 1})
    answer = await gateway.client.get("/api/orders?limit=5", headers=gateway.bearer())
    assert (answer.status_code, answer.json()) == (200, {"success": True, "data": 1})
    seen = gateway.upstream.last
    assert (seen["method"], seen["path"], seen["query"]) == ("GET", "/api/orders", "limit=5")
    assert seen["headers"]["x-request-id"] == answer.headers["x-request-id"]
