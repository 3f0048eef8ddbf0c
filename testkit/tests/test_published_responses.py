"""The check of responses finds each departure from the published model."""

from types import SimpleNamespace
from uuid import UUID

import msgspec
import pytest

from common.standard_endpoints.pending_work import WorkMeta
from common.web.response_models import ResponseModel, Timestamp
from common.web.responses import Success
from testkit.published_responses import check_published

ID = str(UUID(int=1))


class Part(ResponseModel):
    at: Timestamp


class Thing(ResponseModel):
    id: UUID
    count: int | None
    part: Part | None


class ThingList(ResponseModel):
    success: Success
    data: list[Thing]
    meta: WorkMeta


ONE = SimpleNamespace(path="/things/1", responses={200: {"model": Thing}})
MANY = SimpleNamespace(path="/things", responses={200: {"model": list[Thing]}})
GOOD = {"id": ID, "count": 1, "part": {"at": "2026-01-01T00:00:00.000Z"}}


def body_of(data: object) -> bytes:
    return msgspec.json.encode({"success": True, "data": data, "meta": {}})


def test_a_response_of_its_model_passes() -> None:
    check_published(ONE, 200, body_of(GOOD))
    check_published(MANY, 200, body_of([GOOD, {**GOOD, "part": None, "count": None}]))
    check_published(ONE, 201, body_of({"other": 1}))
    check_published(None, 200, body_of(1))
    check_published(ONE, 200, msgspec.json.encode(GOOD))


def test_a_model_with_a_success_is_the_whole_envelope() -> None:
    route = SimpleNamespace(path="/things", responses={200: {"model": ThingList}})
    meta = {"timestamp": "2026-01-01T00:00:00.000Z", "version": "v1", "requestId": "req_1", "unavailable": []}
    whole = {"success": True, "data": [GOOD], "meta": meta}
    check_published(route, 200, msgspec.json.encode(whole))
    for change in ({"meta": {**meta, "more": 1}}, {"data": [{**GOOD, "id": "x"}]}, {"success": 1}):
        with pytest.raises((msgspec.ValidationError, AssertionError)):
            check_published(route, 200, msgspec.json.encode({**whole, **change}))


def test_a_model_of_another_kind_fails() -> None:
    route = SimpleNamespace(path="/things", responses={200: {"model": dict[str, int]}})
    with pytest.raises(AssertionError, match="no ResponseModel"):
        check_published(route, 200, body_of({"id": 1}))


@pytest.mark.parametrize(
    "change",
    [
        {"count": "1"},
        {"id": "x"},
        {"extra": 1},
        {"part": {"at": "2026-01-01T00:00:00Z"}},
        {"part": {"at": None}},
        {"part": {"at": "2026-01-01T00:00:00.000Z", "more": 1}},
    ],
)
def test_any_other_response_fails(change: dict[str, object]) -> None:
    with pytest.raises((msgspec.ValidationError, AssertionError)):
        check_published(ONE, 200, body_of({**GOOD, **change}))
    with pytest.raises((msgspec.ValidationError, AssertionError)):
        check_published(MANY, 200, body_of([GOOD, {**GOOD, **change}]))


def test_a_missing_member_fails() -> None:
    with pytest.raises(msgspec.ValidationError):
        check_published(ONE, 200, msgspec.json.encode({"id": ID, "part": None}))
    with pytest.raises(msgspec.ValidationError):
        check_published(ONE, 200, body_of({"id": ID, "part": None}))
