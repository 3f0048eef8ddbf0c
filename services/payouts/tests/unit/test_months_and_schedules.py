"""Months and days in Lagos, schedules, and formatted amounts."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from common.primitives.clock import LAGOS
from common.primitives.money import format_naira
from common.primitives.problems import ValidationFailed
from payouts.domain.lagos import Month
from payouts.domain.naira import decimal_naira
from payouts.domain.schedules import Schedule, due_after, latest_due, period_of, skip_reason
from payouts.domain.wallet import WalletSnapshot
from payouts.responses.exports import csv_heading, csv_of_lines
from payouts.responses.wallets import StatementLine, StatementMonth
from payouts.templates.month_page import POLICY, page_foot, page_head, page_lines

FAR = datetime(9999, 1, 1, tzinfo=UTC)
EPOCH = datetime(2001, 1, 1, tzinfo=UTC)
instants = st.timedeltas(timedelta(0), timedelta(days=73_000)).map(lambda passed: EPOCH + passed)
schedules = st.sampled_from([Schedule("daily"), Schedule("weekly", "monday"), Schedule("weekly", "sunday")])


@given(instants)
def test_every_instant_lies_in_the_lagos_month_and_months_join_without_a_gap(instant) -> None:
    here = instant.astimezone(LAGOS)
    month = Month.of(f"{here.year:04d}-{here.month:02d}", FAR)
    assert month.start <= instant < month.end
    following = month.end.astimezone(LAGOS)
    assert Month.of(f"{following.year:04d}-{following.month:02d}", FAR).start == month.end


def test_a_month_starts_an_hour_before_it_does_in_utc() -> None:
    month = Month.of("2026-12", FAR)
    assert (month.start, month.end) == (datetime(2026, 11, 30, 23, tzinfo=UTC), datetime(2026, 12, 31, 23, tzinfo=UTC))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "2026",
        "2026-1",
        "2026-13",
        "2026-00",
        "26-11",
        "2026-11-01",
        "2026/11",
        "1999-12",
        "\u0662\u0660\u0662\u0666-11",
        "0000-01",
        "+026-11",
    ],
)
def test_an_invalid_month_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        Month.of(name, FAR)
    assert [param.name for param in refused.value.invalid_params] == ["month"]


def test_the_first_and_the_last_month_of_the_calendar() -> None:
    assert Month.of("2000-01", FAR).start == datetime(1999, 12, 31, 23, tzinfo=UTC)
    last = Month.of("9999-12", datetime(9999, 12, 31, tzinfo=UTC))
    assert (last.start, last.end) == (datetime(9999, 11, 30, 23, tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    with pytest.raises(ValidationFailed):
        Month.of("9999-12", FAR)


def test_a_month_exists_from_its_first_moment_in_lagos() -> None:
    first_instant = datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert Month.of("2026-12", first_instant).start == first_instant
    with pytest.raises(ValidationFailed):
        Month.of("2026-12", first_instant - timedelta(milliseconds=1))


@given(schedules, instants)
def test_a_schedule_is_due_at_six_in_lagos_on_each_of_its_days(schedule, instant) -> None:
    due_at = due_after(schedule, instant)
    here = due_at.astimezone(LAGOS)
    assert (here.hour, here.minute, here.second, here.microsecond) == (6, 0, 0, 0)
    assert timedelta(0) < due_at - instant <= timedelta(days=7 if schedule.weekday else 1)
    assert schedule.weekday in (None, f"{here:%A}".lower())


@given(schedules, instants, st.timedeltas(timedelta(0), timedelta(days=90)))
def test_after_a_downtime_the_latest_missed_day_counts_and_the_next_one_follows_it(schedule, instant, downtime) -> None:
    due_at = due_after(schedule, instant)
    now = due_at + downtime
    latest = latest_due(schedule, due_at, now)
    assert due_at <= latest <= now < due_after(schedule, now)
    assert due_after(schedule, latest) == due_after(schedule, now)
    assert period_of(latest) == latest.astimezone(LAGOS).date()


def test_none_is_never_due() -> None:
    assert due_after(Schedule(), FAR) is None


SNAPSHOT = {
    "available_minor": 500,
    "debt_minor": 0,
    "locked_minor": 0,
    "bank_details_version_id": 1,
    "bank_details_verified": True,
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"suspended": True, "debt_minor": 5}, "vendor_suspended"),
        ({"debt_minor": 1, "available_minor": 0}, "debt_outstanding"),
        ({"bank_details_quarantined": True, "bank_details_verified": False}, "bank_details_quarantined"),
        ({"bank_details_verified": False}, "bank_details_unverified"),
        ({"bank_details_version_id": None, "bank_details_verified": False}, "bank_details_unverified"),
        ({"available_minor": 499}, "below_minimum"),
        ({"available_minor": 0}, "below_minimum"),
    ],
)
def test_a_period_is_skipped_for_the_reason_a_request_would_be_refused_for(
    changes: dict[str, Any], reason: str | None
) -> None:
    assert skip_reason(WalletSnapshot(**{**SNAPSHOT, **changes}), 500) == reason


@given(st.integers(-(10**15), 10**15))
def test_naira_text_is_exact_to_the_kobo(amount_minor) -> None:
    assert int(re.sub(r"[₦,.]", "", format_naira(amount_minor))) == amount_minor
    assert decimal_naira(amount_minor) * 100 == amount_minor
    assert format_naira(amount_minor)[-3] == str(decimal_naira(amount_minor))[-3] == "."


@pytest.mark.parametrize(
    ("amount_minor", "decimal", "formatted"),
    [
        (0, "0.00", "₦0.00"),
        (1, "0.01", "₦0.01"),
        (-1, "-0.01", "-₦0.01"),
        (99, "0.99", "₦0.99"),
        (100, "1.00", "₦1.00"),
        (-123_456_789, "-1234567.89", "-₦1,234,567.89"),
    ],
)
def test_kobo_are_shown_as_naira_with_two_decimals(amount_minor: int, decimal: str, formatted: str) -> None:
    assert (str(decimal_naira(amount_minor)), format_naira(amount_minor)) == (decimal, formatted)


LINE = StatementLine(
    id=UUID(int=1), kind="payout", order_id=None, payout_id=UUID(int=2), payout_status="failed", payout_failure="",
    gross_minor=None, commission_minor=None, delivery_fee_minor=None, net_minor=-123_456, balance_minor=5,
    at="2026-01-31T23:30:00.000Z",
)  # fmt: skip


@pytest.mark.parametrize("reason", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "  =HYPERLINK(1)", "\nx"])
def test_gateway_text_is_never_a_formula(reason: str) -> None:
    [names, cells] = csv.reader(
        io.StringIO(csv_heading()[1:] + csv_of_lines([replace(LINE, payout_failure=reason)]), newline="")
    )
    line = dict(zip(names, cells, strict=True))
    assert line["payoutFailure"] == f"'{reason}"
    assert (line["netMinor"], line["netNaira"], line["balanceNaira"]) == ("-123456", "-1234.56", "0.05")


def test_the_page_escapes_every_text_and_its_policy_names_its_own_style_only() -> None:
    summary = StatementMonth(
        vendor_id=UUID(int=1), month="2026-02", time_zone="Africa/Lagos", begin="", end="", is_over=True,
        currency="NGN",
        opening_balance_minor=0, closing_balance_minor=0, net_minor=0, lines=1, kinds=[],
    )  # fmt: skip
    evil = "<script>alert(1)</script>\"'&"
    page = page_head(evil, summary) + page_lines([replace(LINE, payout_failure=evil)]) + page_foot(summary)
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
    assert "-₦1,234.56" in page
    assert "₦0.05" in page
    # Half past midnight of the first of February in Lagos.
    assert "2026-02-01 00:30" in page
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in POLICY
