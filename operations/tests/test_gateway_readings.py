"""The lists of the payment gateway are read page by page, and an interrupted reading continues."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from operations.audit import statement as statements
from operations.audit.gateway import Gateway, GatewayNotCompared
from operations.audit.statement import Statement, statement_of
from testkit.service_kit import served

from .comparison_world import charge
from .gateway_double import KEY, GatewayDouble


async def refreshed(gateway: Gateway) -> list[str]:
    async with statement_of(gateway) as statement:
        await statement.refresh()
        return [row.key async for row in statement.rows("charge")]


async def test_an_interrupted_reading_continues_with_the_page_that_it_lacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PAGE_LENGTH", 2)
    double = GatewayDouble(lists={"transaction": [charge(id=number) for number in range(5)]})
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY, work_dir=tmp_path)
        page = statements.Paystack.page

        async def interrupted(self: Any, kind: Any, position: str, since: Any) -> Any:
            if position == "4":
                raise KeyboardInterrupt
            return await page(self, kind, position, since)

        monkeypatch.setattr(statements.Paystack, "page", interrupted)
        with pytest.raises(KeyboardInterrupt):
            await refreshed(gateway)
        monkeypatch.setattr(statements.Paystack, "page", page)
        double.requests.clear()
        assert await refreshed(gateway) == ["0", "1", "2", "3", "4"]
        assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("gateway-lists.sqlite*")} == {0o600}
        assert double.requests[0] == "transaction?perPage=2&use_cursor=true&next=4"
        # A finished reading starts again.
        double.lists["transaction"] = [charge(id=5)]
        assert await refreshed(gateway) == ["5"]


async def test_a_concurrent_audit_keeps_the_lists_of_the_first_one(tmp_path: Path) -> None:
    double = GatewayDouble(lists={"transaction": [charge()]})
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY, work_dir=tmp_path)
        async with statement_of(gateway) as first:
            await first.refresh()
            double.lists["transaction"] = []
            assert await refreshed(gateway) == []
            assert [row.key async for row in first.rows("charge")] == ["7"]


async def test_a_reading_of_yesterday_is_not_continued(tmp_path: Path) -> None:
    double = GatewayDouble(lists={"transaction": [charge()]})
    async with served(double.app()) as url:
        gateway = Gateway(url, KEY, work_dir=tmp_path)
        assert await refreshed(gateway) == ["7"]
        with sqlite3.connect(tmp_path / "gateway-lists.sqlite") as file:
            file.execute("INSERT INTO progress VALUES ('paystack charge', '', 1)")
            file.execute("UPDATE run SET started_at = started_at - 7 * 3600")
        file.close()
        double.lists["transaction"] = []
        assert await refreshed(gateway) == []


async def test_a_long_reading_is_followed_by_one_of_the_newer_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = GatewayDouble(lists={"transaction": [charge()]})
    async with served(double.app()) as url:
        started: list[float] = []
        start = Statement._start

        def was_long(self: Statement) -> Any:
            started_at, since = start(self)
            started.append(started_at)
            return (started_at - 3600 if len(started) == 1 else started_at), since

        monkeypatch.setattr(Statement, "_start", was_long)
        assert await refreshed(Gateway(url, KEY, work_dir=tmp_path)) == ["7"]
    assert len(started) == 2
    assert [request for request in double.requests if "transaction" in request and "from=" in request]


async def test_a_rate_limited_call_is_repeated_after_the_seconds_that_the_gateway_names() -> None:
    limited = JSONResponse({"status": False}, 429, headers={"x-ratelimit-reset": "0"})
    double = GatewayDouble(lists={"transaction": [charge()]}, responses=[limited, limited])
    async with served(double.app()) as url:
        assert await refreshed(Gateway(url, KEY)) == ["7"]
    assert [request.partition("?")[0] for request in double.requests[:3]] == ["transaction"] * 3


async def test_a_server_error_during_the_reading_is_repeated_and_a_wrong_key_is_not() -> None:
    ok = JSONResponse({"status": True, "data": [], "meta": {}})
    double = GatewayDouble(responses=[ok, JSONResponse({}, 502)])
    async with served(double.app()) as url:
        assert await refreshed(Gateway(url, KEY)) == []
        failed, repeated = double.requests[1:3]
        assert failed == repeated
        double.responses = [JSONResponse({}, 403)]
        with pytest.raises(GatewayNotCompared, match="403"):
            await refreshed(Gateway(url, KEY))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"data": 5}', b'{"data": [{"id": 7}]}', b'{"data": [{"status": "success"}]}']
)
async def test_an_unreadable_list_is_no_comparison(body: bytes) -> None:
    response = JSONResponse(None)
    response.body = body
    response.headers["content-length"] = str(len(body))
    async with served(GatewayDouble(responses=[response]).app()) as url:
        with pytest.raises(GatewayNotCompared):
            await refreshed(Gateway(url, KEY))
