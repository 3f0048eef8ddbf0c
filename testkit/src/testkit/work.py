"""The work of a caller, followed to its lists (contract section 13.6)."""

from typing import Any

import httpx

ROWS_MAX = 100


async def work_of(client: httpx.AsyncClient, headers: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return the caller's work by kind; work of one kind in several services by kind and link.

    Checks that each link leads to a list of exactly `count` rows for the same caller.
    """
    response = await client.get("/api/work", headers=headers)
    assert response.status_code == 200, response.text
    document = response.json()
    assert document["meta"]["unavailable"] == []
    for item in document["data"]:
        assert item["count"] > 0, item
        assert item["oldestAt"] is not None, item
        listed = await client.get(f"{item['link']}&limit={ROWS_MAX}", headers=headers)
        assert listed.status_code == 200, (item, listed.text)
        shown = listed.json()
        assert not shown["meta"].get("has_more"), item
        assert shown["meta"].get("total", len(shown["data"])) == item["count"], (item, shown)
    kinds = [item["kind"] for item in document["data"]]
    return {
        item["kind"] if kinds.count(item["kind"]) == 1 else f"{item['kind']} {item['link']}": item
        for item in document["data"]
    }


async def own_actions_of(client: httpx.AsyncClient, headers: dict[str, str]) -> list[tuple[str, str]]:
    """Act and subject of each own action of the caller in one service, oldest first."""
    response = await client.get("/api/staff-acts/current", headers=headers)
    assert response.status_code == 200, response.text
    return [(action["act"], action["subjectId"]) for action in reversed(response.json()["data"])]
