"""Errors of a language model's provider: their meaning for the user and the operators, in documented and odd shapes."""

import pytest

from notifications.assistant.domain.model_errors import fault_in_stream, fault_of_status, read_model_error


def body(code, kind="invalid_request_error", message="text", param=None):
    return {"error": {"code": code, "type": kind, "message": message, "param": param}}


@pytest.mark.parametrize(
    ("status", "payload", "is_outage", "detail"),
    [
        (401, body("invalid_api_key"), True, "out of order"),
        (403, body(None, "insufficient_permissions"), True, "out of order"),
        (404, body("model_not_found"), True, "out of order"),
        (429, body("rate_limit_exceeded", "requests"), True, "too many questions"),
        (429, body("insufficient_quota", "insufficient_quota"), True, "out of order"),
        (400, body("unsupported_parameter", param="max_tokens"), True, "out of order"),
        (400, body("context_length_exceeded"), False, "too long"),
        (400, body("content_filter"), False, "does not answer this question"),
        (400, body(None), False, "did not find an answer"),
        (422, {"detail": [{"loc": ["body"], "msg": "x"}]}, False, "did not find an answer"),
        (500, body(None, "server_error"), True, "unavailable"),
        (503, body(None, "overloaded_error"), True, "unavailable"),
        (500, None, True, "unavailable"),
        (500, ["x"], True, "unavailable"),
        (500, {"error": "text"}, True, "unavailable"),
        (500, {"error": {"code": 500, "type": None, "message": ["x"], "param": {}}}, True, "unavailable"),
    ],
)
def test_an_error_of_a_provider_has_one_reading(status: int, payload, is_outage: bool, detail: str) -> None:
    fault = fault_of_status(status, read_model_error(payload), "sk-key", 10)
    assert fault.is_outage is is_outage
    assert detail in str(fault)


def test_the_reason_names_the_error_without_the_key() -> None:
    error = read_model_error(body("unsupported_parameter", message="Use another one, sk-key.", param="max_tokens"))
    reason = fault_of_status(400, error, "sk-key", 10).reason
    assert reason == (
        "the provider refused the request (400): unsupported_parameter invalid_request_error max_tokens "
        "Use another one, ***."
    )


def test_the_reason_of_a_rejected_question_does_not_quote_it() -> None:
    error = read_model_error(body("content_filter", message="flagged: my private question"))
    assert "private" not in fault_of_status(400, error, "", 10).reason
    assert "private" not in fault_in_stream(error, "").reason
