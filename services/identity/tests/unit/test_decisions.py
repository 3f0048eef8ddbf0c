"""The pure decisions on referrals, refresh tokens, codes and claims."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from identity.domain.authorization_profile import AuthorizationProfile, SignIn, claims_of
from identity.domain.referrals import NotRewarded, Referrer, Rewarded, evaluate_referral
from identity.domain.sessions import Invalid, Repeated, Reused, StoredRefreshToken, Usable, evaluate_refresh
from identity.domain.totp_delays import blocked_until

NOW = datetime(2026, 9, 1, tzinfo=UTC)
ME, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("token_given", "referrer", "mailbox_known", "verdict"),
    [
        (False, None, False, NotRewarded()),
        (False, None, True, NotRewarded()),
        (True, None, False, NotRewarded("unknown_token")),
        (True, Referrer(ME, "other@x.co"), False, NotRewarded("own_token")),
        (True, Referrer(OTHER, "me@x.co"), False, NotRewarded("own_token")),
        (True, Referrer(OTHER, "other@x.co"), True, NotRewarded("mailbox_known")),
        (True, Referrer(OTHER, "other@x.co"), False, Rewarded(OTHER)),
    ],
)
def test_a_referral_rewards_only_an_invitation_of_another_mailbox(
    token_given: bool, referrer: Referrer | None, mailbox_known: bool, verdict: Rewarded | NotRewarded
) -> None:
    evaluated = evaluate_referral(
        ME, "me@x.co", token_given=token_given, referrer=referrer, mailbox_known=mailbox_known
    )
    assert evaluated == verdict


def test_an_address_that_cannot_be_compared_earns_nothing() -> None:
    evaluated = evaluate_referral(
        ME,
        '"me"@x.co',
        token_given=True,
        referrer=Referrer(OTHER, "other@x.co"),
        mailbox_known=False,
        address_is_plain=False,
    )
    assert evaluated == NotRewarded("unusual_address")


@pytest.mark.parametrize(
    ("used_ago", "ended", "expires_in", "verdict"),
    [
        (None, False, 1, Usable()),
        (None, False, 0, Invalid()),
        (0, False, 1, Repeated()),
        (30, False, 1, Repeated()),
        (31, False, 1, Reused()),
        (31, False, -1, Reused()),
        (None, True, 1, Invalid()),
        (0, True, 1, Invalid()),
    ],
)
def test_a_refresh_token_is_usable_once_and_repeatable_for_thirty_seconds(
    used_ago: int | None, ended: bool, expires_in: int, verdict: Usable | Repeated | Reused | Invalid
) -> None:
    token = StoredRefreshToken(
        session_id=OTHER,
        user_id=ME,
        signed_in_at=NOW,
        method="password",
        stepped_up_at=None,
        expires_at=NOW + timedelta(seconds=expires_in),
        used_at=None if used_ago is None else NOW - timedelta(seconds=used_ago),
        session_revoked=ended,
    )
    assert evaluate_refresh(token, NOW) == verdict


def test_guessing_codes_becomes_slower_up_to_a_bound() -> None:
    waits = [blocked_until(failures, NOW) for failures in range(1, 40)]
    assert waits[:4] == [None] * 4
    seconds = [(wait - NOW).total_seconds() for wait in waits[4:] if wait is not None]
    assert seconds[:6] == [30, 60, 120, 240, 480, 900]
    assert set(seconds[6:]) == {900}


def test_a_session_with_a_second_factor_stays_at_aal2() -> None:
    assert SignIn(OTHER, NOW - timedelta(hours=1)).aal == "aal1"
    assert SignIn(OTHER, NOW - timedelta(days=20), NOW - timedelta(days=20)).aal == "aal2"


def test_a_token_without_vendor_campus_and_hub_has_null_claims() -> None:
    profile = AuthorizationProfile(ME, "buyer", ("buyer",), None, None, has_second_factor=False)
    claims = claims_of(profile, SignIn(OTHER, NOW), issuer="http://x", audience="y", now=NOW)
    assert claims["app_metadata"] == {
        "roles": ["buyer"],
        "vendor_id": None,
        "campus_id": None,
        "hub_id": None,
        "packing_vendor_id": None,
    }
    assert claims["aal"] == "aal1"
    assert claims["exp"] - claims["iat"] == 900
