"""The laws of the sliding window, against a model that remembers everything."""

from hypothesis import given
from hypothesis import strategies as st

from api_gateway.sliding_window import MICROSECONDS, Counter, SlidingWindows

WINDOW = 60
ADDRESS = Counter("1", "192.0.2.1", 3)


def seconds(at: float) -> int:
    return int(at * MICROSECONDS)


steps = st.lists(
    st.tuples(st.integers(0, 40 * MICROSECONDS), st.sampled_from(["a", "b"]), st.booleans()), min_size=1, max_size=60
)


@given(steps, st.integers(1, 6))
def test_a_window_admits_exactly_what_the_naive_model_admits(requests: list[tuple[int, str, bool]], limit: int) -> None:
    windows, counted, now = SlidingWindows(WINDOW), dict[str, list[int]](), 0
    for wait, subject, counts in requests:
        now += wait
        living = [at for at in counted.get(subject, []) if now - at < WINDOW * MICROSECONDS]
        counter = Counter("1", subject, limit)
        quota_status = windows.count(counter, now) if counts else windows.peek(counter, now)
        assert quota_status.admitted == (len(living) < limit)
        if counts and quota_status.admitted:
            counted.setdefault(subject, []).append(now)
            living.append(now)
        assert quota_status.remaining == limit - len(living)
        assert quota_status.oldest == (living[0] if living else None)


@given(steps, st.integers(1, 6))
def test_after_retry_after_a_request_is_admitted_and_a_second_earlier_it_is_not(
    requests: list[tuple[int, str, bool]], limit: int
) -> None:
    windows, now = SlidingWindows(WINDOW), 0
    for wait, subject, _ in requests:
        now += wait
        counter = Counter("1", subject, limit)
        quota_status = windows.count(counter, now)
        if not quota_status.admitted:
            retry = quota_status.retry_after_seconds(now, windows.window)
            assert windows.peek(counter, now + retry * MICROSECONDS).admitted
            assert not windows.peek(counter, now + (retry - 1) * MICROSECONDS).admitted


def test_reset_is_the_second_at_which_the_oldest_request_has_left() -> None:
    windows = SlidingWindows(WINDOW)
    quota_status = windows.count(ADDRESS, seconds(1000.25))
    windows.count(ADDRESS, seconds(1010))
    assert quota_status.reset_second(seconds(1000.25), windows.window) == 1061
    assert windows.peek(ADDRESS, seconds(1061)).remaining == 2


def test_a_request_that_one_counter_rejects_is_counted_under_none() -> None:
    windows = SlidingWindows(WINDOW)
    account, address = Counter("4", "a:x", 2), Counter("4-address", "a", 60)
    for at in (1, 2):
        assert windows.count_all([account, address], at).admitted
    refused = windows.count_all([account, address], 3)
    assert not refused.admitted
    assert refused.limit == 2
    assert windows.peek(address, 4).remaining == 58


def test_the_tightest_counter_is_the_one_that_is_shown() -> None:
    windows = SlidingWindows(WINDOW)
    address = Counter("4-address", "a", 4)
    for number in range(3):
        windows.count(address, number)
    shown = windows.count_all([Counter("4", "a:x", 10), address], 5)
    assert (shown.limit, shown.remaining) == (4, 0)


def test_the_sweep_removes_only_subjects_without_counted_requests() -> None:
    windows = SlidingWindows(WINDOW)
    windows.count(Counter("1", "gone", 5), seconds(0))
    windows.count(Counter("1", "there", 5), seconds(30))
    windows.sweep(seconds(60))
    assert len(windows) == 1
    assert windows.peek(Counter("1", "there", 5), seconds(60)).remaining == 4


def test_memory_is_bounded_however_many_subjects_come() -> None:
    windows = SlidingWindows(WINDOW)
    windows.SUBJECTS_MAX = 100  # type: ignore[misc]
    for number in range(1_000):
        windows.count(Counter("1", str(number), 5), number)
    assert len(windows) == 100
