"""Mails about decisions to applicants and vendors (contract sections 10 and 12)."""

import pytest

from common.primitives.ids import new_id
from contracts.identity import VendorApplicationDecided, VendorReinstated, VendorSuspended
from contracts.orders import ProductDelisted, ProductRelisted
from contracts.payouts import PayoutDelayed
from notifications.deliveries.domain.errors import ContactUnknown

from ..conftest import Scenario
from ..providers import Providers, html_of, text_of


def vendor_of(scenario: Scenario, **more):
    return {
        "vendor_id": scenario.vendor_id,
        "owner_user_id": scenario.owner_id,
        "business_name": "Ada's Kitchen",
        "legal_name": "Ada Obi Ventures",
        "campus_id": new_id(),
        **more,
    }


def decided(scenario: Scenario, outcome, reason=None):
    return VendorApplicationDecided(application_id=new_id(), user_id=scenario.buyer_id, outcome=outcome, reason=reason)


async def mails_after(scenario: Scenario, providers: Providers, *events):
    """Return the mails after each event was delivered twice."""
    for event in events:
        await scenario.receive_twice(event)
    await scenario.send_queued()
    return [(mail["To"], mail["Subject"], text_of(mail)) for mail in providers.mails]


async def test_an_applicant_gets_the_decision_once(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    rejected = decided(scenario, "rejected", "Tell us <b>which</b> books.")
    [(first_to, first, why), (_, second, how)] = await mails_after(
        scenario, providers, rejected, decided(scenario, "approved")
    )
    assert first_to == "chidi@unilag.edu.ng"
    assert first == "Your application to sell on Campus Marketplace was not approved"
    assert "The reason: Tell us <b>which</b> books." in why
    assert "apply again" in why
    assert "&lt;b&gt;which&lt;/b&gt;" in html_of(providers.mails[0])
    assert second == "Your application to sell on Campus Marketplace was approved"
    assert "Sign in again to open your shop" in how
    assert "reason" not in how
    feed = await scenario.feed()
    assert [line["title"] for line in feed.json()["data"]] == ["Your application to sell"] * 2


async def test_each_suspension_and_its_end_notify_the_owner(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    mails = await mails_after(
        scenario,
        providers,
        VendorSuspended(**vendor_of(scenario), reason="Complaints"),
        VendorReinstated(**vendor_of(scenario)),
        VendorSuspended(**vendor_of(scenario), reason="More complaints"),
    )
    assert [(to, subject) for to, subject, _ in mails] == [
        ("ada@unilag.edu.ng", "We have suspended Ada's Kitchen"),
        ("ada@unilag.edu.ng", "The suspension of Ada's Kitchen is over"),
        ("ada@unilag.edu.ng", "We have suspended Ada's Kitchen"),
    ]
    assert "The reason: Complaints" in mails[0][2]
    assert "Payouts are held; your money is safe." in mails[0][2]
    assert "The reason: More complaints" in mails[2][2]


async def test_a_vendor_is_notified_of_a_delisted_and_of_a_restored_product(
    scenario: Scenario, providers: Providers
) -> None:
    await scenario.project_users()
    about = {
        "product_id": new_id(),
        "vendor_id": scenario.vendor_id,
        "campus_id": new_id(),
        "takedown_id": new_id(),
        "name": "Rice",
    }
    mails = await mails_after(
        scenario,
        providers,
        ProductDelisted(**about, reason="The photo shows another product"),
        ProductRelisted(**about, reason="The photo is corrected"),
    )
    assert [subject for _, subject, _ in mails] == ["We have taken down Rice", "Rice is restored"]
    assert "The reason: The photo shows another product" in mails[0][2]
    assert "Our note: The photo is corrected" in mails[1][2]


async def test_a_decision_before_its_user_is_retried(scenario: Scenario, providers: Providers) -> None:
    with pytest.raises(ContactUnknown):
        await scenario.receive(decided(scenario, "approved"))
    assert await scenario.fetch("SELECT 1 FROM notifications") == []


async def test_a_delayed_payout_notifies_once_for_each_exception(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    payout_id, first, second = new_id(), new_id(), new_id()

    def delayed(exception_id, cause):
        return PayoutDelayed(
            payout_id=payout_id,
            vendor_id=scenario.vendor_id,
            amount_minor=150_000,
            cause=cause,
            exception_id=exception_id,
        )

    mails = await mails_after(
        scenario,
        providers,
        delayed(first, "bank_switch_error"),
        delayed(first, "reversed"),
        delayed(second, "unclassified"),
    )
    assert [subject for _, subject, _ in mails] == ["Your payout of ₦1,500.00 is delayed"] * 2
    for _, _, words in mails:
        assert "Your money is safe." in words
        assert not any(internal in words for internal in ("bank_switch_error", "unclassified", "SEV", str(payout_id)))
