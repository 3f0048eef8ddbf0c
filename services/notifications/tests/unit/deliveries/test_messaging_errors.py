"""Errors of the messaging app: read from any shape, and classified by their code."""

from typing import Any

import pytest

from common.primitives.json_records import read_record
from notifications.deliveries.domain.messaging_errors import ReportedError, classify_error, read_error


def error(code=None, **more):
    return read_error(
        read_record({"code": code, "message": f"(#{code}) Failed", "type": "OAuthException", **more}, ReportedError)
    )


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((0, 3, 10, 33, 190, 200, 299, 368, 130497, 131005, 131031, 131037, 131042, 131045, 133010), "account"),
        ((1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057, 133004), "throttled"),
        ((130472, 131021, 131026, 131049, 131050, 131062, 137000), "recipient"),
        ((131047,), "window"),
        ((100, 131008, 131009, 131030, 131051, 132000, 132001, 132005, 132007, 132012, 132015, 132016), "message"),
        ((999999, None), "message"),
    ],
)
def test_the_code_decides_the_class(codes, expected: str) -> None:
    for code in codes:
        assert classify_error(error(code), 400) == expected, code
        assert classify_error(error(code)) == expected, code
        assert code is None or classify_error(error(str(code)), 400) == expected, code


def test_a_known_code_outweighs_the_status() -> None:
    assert classify_error(error(131026), 500) == "recipient"
    assert classify_error(error(130429), 403) == "throttled"
    assert classify_error(error(368), 400) == "account"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, "account"),
        (403, "account"),
        (408, "throttled"),
        (429, "throttled"),
        (500, "throttled"),
        (503, "throttled"),
        (400, "message"),
        (404, "message"),
        (422, "message"),
    ],
)
def test_the_status_decides_where_the_code_is_unknown(status: int, expected: str) -> None:
    assert classify_error(error(None), status) == expected
    assert classify_error(error(424242), status) == expected


def test_the_subcode_shows_an_unknown_phone_number_id() -> None:
    assert classify_error(error(100, error_subcode=33), 400) == "account"
    assert classify_error(error(100, error_subcode="33"), 400) == "account"
    assert classify_error(error(100, error_subcode=2494010), 400) == "message"


def test_a_transient_error_is_repeated() -> None:
    assert classify_error(error(987654, is_transient=True), 400) == "throttled"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"message": "M", "error_data": {"messaging_product": "whatsapp", "details": "The details"}}, "The details"),
        ({"title": "Title", "message": "Message", "error_data": {"details": ""}}, "Message"),
        ({"title": "Title", "message": None, "error_data": None}, "Title"),
        ({"message": "M", "error_user_msg": "The user's sentence"}, "The user's sentence"),
        ({"message": "M", "error_data": "details as a text"}, "details as a text"),
        ({"message": "M", "error_data": ["x"]}, "M"),
        ({"message": "To +234 803 000 0001\nof 042917\x00"}, "To +•••• of ••••\ufffd"),
        ({"message": ["x"], "title": 7}, ""),
    ],
)
def test_the_text_is_the_most_exact_one_without_digits(given: dict[str, Any], text: str) -> None:
    assert read_error(read_record(given, ReportedError)).text == text


@pytest.mark.parametrize(
    "odd", [None, 7, "x", [], {}, {"code": True}, {"code": 1.5}, {"code": "-1"}, {"code": "9" * 50}]
)
def test_odd_errors_are_read(odd) -> None:
    read = read_error(read_record(odd, ReportedError))
    assert read.code is None
    assert classify_error(read, 500) == "throttled"
