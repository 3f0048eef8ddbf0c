"""Status transitions, quiet hours and opt-ins."""

from datetime import UTC, datetime, time
from typing import Any

import pytest

from common.primitives.lifecycles import Rejection
from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES
from notifications.deliveries.domain.channels import CHANNELS_BY_TEMPLATE, Preferences
from notifications.deliveries.domain.quiet_hours import QuietHours, is_timezone
from notifications.deliveries.domain.receipt_signatures import is_key_valid, is_signed
from notifications.deliveries.domain.statuses import ATTEMPT, DELIVERY, furthest
from notifications.deliveries.domain.templates import CATALOG
from testkit.cases import for_each

ORDER = ["queued", "sent", "delivered", "read"]


@for_each(("lifecycle", "first"), [(DELIVERY, "queued"), (ATTEMPT, "sending"), (ATTEMPT, "unknown")])
@for_each("position", range(len(ORDER)))
@for_each("reported", ORDER[1:])
def test_a_reported_status_never_falls(lifecycle: Any, first: str, position: int, reported: str) -> None:
    was = [first, *ORDER[1:]][position]
    expected = (
        reported if ORDER.index(reported) > position else Rejection.REPEATED if reported == was else Rejection.STALE
    )
    assert lifecycle.next_state(was, reported) == expected


@pytest.mark.parametrize(("lifecycle", "first"), [(DELIVERY, "queued"), (ATTEMPT, "sending"), (ATTEMPT, "unknown")])
@pytest.mark.parametrize("lost", ["failed", "bounced"])
def test_a_failure_ends_what_has_not_arrived_and_no_report_follows_it(lifecycle: Any, first: str, lost: str) -> None:
    assert [lifecycle.allows(was, lost) for was in [first, *ORDER[1:]]] == [True, True, False, False]
    for reported in [*ORDER[1:], "failed", "bounced"]:
        assert lifecycle.next_state(lost, reported) is (Rejection.REPEATED if reported == lost else Rejection.STALE)


def test_a_push_to_several_devices_has_the_furthest_status() -> None:
    assert furthest(["failed", "queued"]) == 1
    assert furthest(["sent", "delivered", "failed"]) == 1
    assert furthest(["failed"]) == 0


@pytest.mark.parametrize(
    ("starts", "ends", "now", "over"),
    [
        ("22:00", "07:00", "2026-01-01T20:59", None),
        ("22:00", "07:00", "2026-01-01T21:00", "2026-01-02T06:00"),
        ("22:00", "07:00", "2026-01-01T23:30", "2026-01-02T06:00"),
        ("22:00", "07:00", "2026-01-02T05:59", "2026-01-02T06:00"),
        ("22:00", "07:00", "2026-01-02T06:00", None),
        ("13:00", "15:00", "2026-01-01T12:30", "2026-01-01T14:00"),
        ("13:00", "15:00", "2026-01-01T14:00", None),
    ],
)
def test_quiet_hours_of_lagos_end_in_utc_an_hour_before(starts: str, ends: str, now: str, over: str | None) -> None:
    quiet = QuietHours(time.fromisoformat(starts), time.fromisoformat(ends), "Africa/Lagos")
    until = quiet.quiet_until(datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert until == (None if over is None else datetime.fromisoformat(over).replace(tzinfo=UTC))


def test_quiet_hours_follow_the_wall_clock_over_a_change_of_the_clocks() -> None:
    quiet = QuietHours(time(22), time(7), "Europe/Berlin")
    assert quiet.quiet_until(datetime(2026, 3, 28, 22, tzinfo=UTC)) == datetime(2026, 3, 29, 5, tzinfo=UTC)


@pytest.mark.parametrize("name", ["", "../etc/passwd", "/etc/localtime", "Nowhere/City", "Africa\x00"])
def test_what_is_no_timezone_is_refused(name: str) -> None:
    assert not is_timezone(name)


def test_an_empty_key_verifies_nothing() -> None:
    assert not is_signed(b"", "", "")
    assert not is_key_valid("", "")
    assert not is_key_valid(None, "key")
    assert is_key_valid("key", "key")


def test_every_message_has_its_channels_and_its_approved_text() -> None:
    assert set(APPROVED_TEMPLATES) == {name for name, template in CATALOG.items() if "messaging" in template.channels}
    assert set(CHANNELS_BY_TEMPLATE) == set(CATALOG) - {"delivery_pin", "one_time_code", "confirm_email"}
    assert all(set(CHANNELS_BY_TEMPLATE[name]) <= CATALOG[name].channels for name in CHANNELS_BY_TEMPLATE)


def test_the_messaging_app_needs_an_opt_in() -> None:
    preferences = Preferences()
    assert [preferences.allows(channel) for channel in ("push", "messaging", "sms", "email")] == [
        True,
        False,
        True,
        True,
    ]
    assert not preferences.opted_out("order_confirmation", "messaging")
    assert Preferences({"messaging": False}).opted_out("order_confirmation", "messaging")
