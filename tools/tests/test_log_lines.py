"""The merged log of `make run` is readable."""

from campus_tools.launcher.log_lines import readable


def test_a_line_for_machines_is_shown_as_time_level_event_and_what_belongs_to_it() -> None:
    line = (
        '{"queue":"orders.payments","error":"two words","event":"message failed","service":"orders-worker",'
        '"level":"warning","at":"2026-11-21T18:47:24.090331Z"}'
    )
    assert readable(line) == ['18:47:24 warning message failed  queue=orders.payments  error="two words"']


def test_a_traceback_follows_its_line() -> None:
    line = '{"event":"it broke","level":"error","at":"2026-11-21T18:47:24Z","exception":"Traceback:\\n  File x"}'
    assert readable(line) == ["18:47:24 error   it broke", "    Traceback:", "      File x"]


def test_what_is_no_line_of_ours_is_left_as_it_is() -> None:
    for line in ("Uvicorn running", "{half", "[1, 2]", '{"other": 1}', ""):
        assert readable(line) == [line]
