"""JSON of another program is read into typed records, and no odd value raises."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.json_records import decode_json, decode_record, read_record, read_records


class Part(msgspec.Struct, frozen=True):
    name: str = ""


class Whole(msgspec.Struct, frozen=True, rename="camel"):
    text: str = "default"
    count: int = 7
    one_flag: bool = False
    code: int | str | None = None
    part: Part = Part()
    optional: Part | None = None
    detail: Part | str = ""
    parts: list[Part] = []
    names: list[str] | None = None


def test_each_member_is_read_by_its_declared_type() -> None:
    body = (
        b'{"text": "a", "count": 1, "oneFlag": true, "code": "12", "part": {"name": "b", "more": 1}, "optional": {},'
        b' "detail": {"name": "c"}, "parts": [{"name": "d"}, {}], "names": ["e"]}'
    )
    parts = [Part("d"), Part()]
    assert decode_record(body, Whole) == Whole("a", 1, True, "12", Part("b"), Part(), Part("c"), parts, ["e"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b"<html>",
        b'{"count": 1e999}',
        b"\xff",
        b"[" * 100_000,
        b'{"text": 1, "count": "1", "oneFlag": 1, "code": [], "part": [], "optional": 1, "detail": 1, "parts": {}}',
        b'{"text": null, "count": true, "oneFlag": null, "code": false, "part": null, "parts": "x", "names": {}}',
        b'{"count": 1.5, "code": 1.5}',
    ],
)
def test_a_member_of_another_type_has_its_default(body: bytes) -> None:
    assert decode_record(body, Whole) == Whole()


def test_a_list_keeps_the_items_of_its_type() -> None:
    body = b'{"parts": [1, {"name": "a"}, null, [], {"name": 2}], "names": ["b", 3, null]}'
    assert decode_record(body, Whole) == Whole(parts=[Part("a"), Part()], names=["b"])
    assert read_records([{"name": "a"}, None, [], {}], Part) == [Part("a"), Part()]
    assert read_records({"name": "a"}, Part) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*Whole.__struct_encode_fields__, "name"]), inner, max_size=5)
    ),
    max_leaves=15,
)


@given(JSON)
def test_any_value_becomes_a_record_of_the_declared_types(value: object) -> None:
    record = read_record(value, Whole)
    assert msgspec.convert(msgspec.to_builtins(record), Whole) == record


def test_an_invalid_body_is_no_value() -> None:
    assert decode_json(b'{"a": [1, null]}') == {"a": [1, None]}
    assert decode_json(b"{") is None
