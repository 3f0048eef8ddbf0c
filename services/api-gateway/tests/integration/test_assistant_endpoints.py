"""The endpoints of the assistant at the edge: tier 5, small bodies, no idempotency (contract sections 3 and 4)."""

from common.primitives.ids import new_id

from .conftest import OpenGateway, problem_of


async def test_questions_are_counted_together_by_user_and_the_21st_in_a_minute_is_rejected(
    open_gateway: OpenGateway,
) -> None:
    app = await open_gateway()
    user = new_id()
    for number in range(20):
        path = "/api/assistant/stream" if number % 2 else "/api/v1/assistant/chat"
        response = await app.client.post(path, json={"message": "hello"}, headers=app.bearer(user))
        assert (response.status_code, response.headers["ratelimit-limit"]) == (201, "20")
        assert response.headers["ratelimit-remaining"] == str(19 - number)
    reached = len(app.upstream.seen)
    for path in ("/api/assistant/chat", "/api/assistant/stream"):
        refused = await app.client.post(path, json={"message": "hello"}, headers=app.bearer(user))
        assert (refused.status_code, problem_of(refused)["code"]) == (429, "RATE_LIMIT_EXCEEDED")
        assert int(refused.headers["retry-after"]) > 0
    assert len(app.upstream.seen) == reached
    lists = await app.client.get("/api/assistant/conversations", headers=app.bearer(user))
    assert lists.headers["ratelimit-limit"] == "300"
    assert (await app.client.post("/api/assistant/chat", json={}, headers=app.bearer(new_id()))).status_code == 201


async def test_a_question_has_at_most_64_kib_and_its_key_is_ignored(open_gateway: OpenGateway) -> None:
    app = await open_gateway()
    headers = {**app.bearer(new_id()), "Idempotency-Key": "no UUID at all", "Content-Type": "application/json"}
    for path in ("/api/assistant/chat", "/api/assistant/stream"):
        reached = len(app.upstream.seen)
        results = [await app.client.post(path, content=b" " * 65_534 + b"{}", headers=headers) for _ in range(2)]
        assert [response.status_code for response in results] == [201, 201]
        assert len(app.upstream.seen) == reached + 2
        assert all("x-cache-lookup" not in response.headers for response in results)
        refused = await app.client.post(path, content=b" " * 65_535 + b"{}", headers=headers)
        assert (refused.status_code, problem_of(refused)["code"]) == (413, "VALIDATION_FAILED")
        assert len(app.upstream.seen) == reached + 2
