"""Which signing key is what at which moment."""

from datetime import UTC, datetime, timedelta

from identity.domain.key_rotation import (
    FORGOTTEN_AFTER,
    KeyStates,
    ListedKey,
    TokensStillValid,
    evaluate_retirement,
    states_of,
)

NOW = datetime(2026, 9, 1, 8, tzinfo=UTC)


def key(kid: str, seconds: float) -> ListedKey:
    return ListedKey(kid, NOW + timedelta(seconds=seconds))


OLDEST, OLD, SIGNING, COMING, LATER = key("a", -9_000), key("b", -8_000), key("c", 0), key("d", 1), key("e", 2)


def test_the_newest_key_whose_time_has_come_signs() -> None:
    keys = [LATER, OLD, SIGNING, COMING, OLDEST]
    assert states_of(keys, NOW) == KeyStates((COMING, LATER), SIGNING, (OLD, OLDEST))
    assert states_of(keys, NOW - timedelta(seconds=1)).current == OLD
    assert states_of([COMING], NOW) == KeyStates((COMING,), None, ())
    assert states_of([], NOW) == KeyStates((), None, ())


def test_keys_of_one_moment_have_one_order() -> None:
    twins = [key("x", -5), key("y", -5)]
    assert states_of(twins, NOW) == states_of(twins[::-1], NOW) == KeyStates((), twins[1], (twins[0],))


def test_previous_keys_go_when_the_last_token_of_theirs_has_ended() -> None:
    states = states_of([OLD, SIGNING], NOW)
    assert evaluate_retirement(states, NOW + FORGOTTEN_AFTER - timedelta(milliseconds=1)) == TokensStillValid(
        NOW + FORGOTTEN_AFTER
    )
    assert evaluate_retirement(states, NOW + FORGOTTEN_AFTER) == (OLD,)


def test_a_key_that_signs_or_will_sign_is_never_retired_by_age() -> None:
    for keys in ([SIGNING], [SIGNING, COMING], [COMING], []):
        assert evaluate_retirement(states_of(keys, NOW), NOW + timedelta(days=400)) == ()
