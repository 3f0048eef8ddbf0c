"""Every cell of the table of transitions of a transfer, written down a second time."""

from common.primitives.lifecycles import Rejection
from payouts.domain.transitions import EVENTS, STATES, is_allowed, next_state, verdict_of
from testkit.cases import for_each

# `.` the same state, `r` repeated, `s` stale, `!` contradiction; otherwise the next state, with its verdict where it is
# not `advanced`.
TABLE = """
event                      reserved    submitting  unknown     pending     received    otp         success     failed            rejected          blocked           abandoned         reversed
claimed                    .           unknown     .           .           .           .           .           .                 .                 .                 .                 .
submission_started         submitting  s           submitting  s           s           s           s           s                 s                 s                 s                 s
held                       .           s           s           s           s           s           s           s                 s                 s                 s                 s
call_unanswered            s           unknown     s           s           s           s           s           s                 s                 s                 s                 s
queried                    s           s           .           .           .           .           .           .                 .                 .                 .                 .
withdrawn                  failed      s           s           s           s           s           s           s                 s                 s                 s                 s
pending                    pending     pending     pending     r           pending     pending     s           s                 s                 s                 s                 s
received                   received    received    received    received    r           received    s           s                 s                 s                 s                 s
otp                        otp         otp         otp         otp         otp         r           s           s                 s                 s                 s                 s
success                    success     success     success     success     success     success     r           !                 !                 !                 !                 .late_success
success_confirmed          success     success     success     success     success     success     r           success:confirmed success:confirmed success:confirmed success:confirmed .late_success
success_of_processed       !           !           !           !           !           !           r           !                 !                 !                 !                 r
success_after_reversal     !           !           !           !           !           !           r           !                 !                 !                 !                 !
success_of_recovered       r           r           r           r           r           r           r           r                 r                 r                 r                 r
success_after_restitution  !           !           !           !           !           !           !           !                 !                 !                 !                 !
failed                     failed      failed      failed      failed      failed      failed      !           r                 !                 !                 !                 s
rejected                   rejected    rejected    rejected    rejected    rejected    rejected    !           !                 r                 !                 !                 s
blocked                    blocked     blocked     blocked     blocked     blocked     blocked     !           !                 !                 r                 !                 s
abandoned                  abandoned   abandoned   abandoned   abandoned   abandoned   abandoned   !           !                 !                 !                 r                 s
reversed                   reversed    reversed    reversed    reversed    reversed    reversed    reversed    reversed          reversed          reversed          reversed          r
mismatch                   !           !           !           !           !           !           !           !                 !                 !                 !                 !
"""  # noqa: E501
REJECTIONS = {"r": Rejection.REPEATED, "s": Rejection.STALE, "!": Rejection.FORBIDDEN}
HEADING, *ROWS = [line.split() for line in TABLE.strip().splitlines()]
CELLS = [(state, event, cell) for event, *cells in ROWS for state, cell in zip(HEADING[1:], cells, strict=True)]


def test_the_table_has_every_state_and_event() -> None:
    assert sorted((state, event) for state, event, _ in CELLS) == sorted(
        (state, event) for state in STATES for event in EVENTS
    )


@for_each(("state", "event", "cell"), CELLS)
def test_each_cell_of_the_table_has_its_outcome(state, event, cell) -> None:
    if cell in REJECTIONS:
        assert next_state(state, event) is REJECTIONS[cell]
        assert verdict_of(state, event) == {"r": "repeated", "s": "stale", "!": "contradiction"}[cell]
        assert not is_allowed(state, event)
        return
    expected = cell.lstrip(".").replace(":", " ").split()
    if cell.startswith("."):
        expected = [state, *expected]
    assert next_state(state, event) == expected[0]
    assert verdict_of(state, event) == (expected[1] if len(expected) > 1 else "advanced")
    assert is_allowed(state, event)
