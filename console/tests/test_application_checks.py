"""The console's checks of a vendor application, and the clock of an alert."""

from typing import Any

from console.api import Json
from console.pages.campus.applications import application_checks
from console.pages.campus.names import percent
from console.pages.oncall.alerts import alert_deadline

CAMPUS: Json = {"id": "c1", "name": "University of Lagos", "active": True}
APPLICANT: Json = {"fullName": "Tolu Ade", "email": "tolu@unilag.edu.ng", "emailConfirmed": True, "campusId": "c1"}
APPLICATION: Json = {
    "id": "a1",
    "userId": "u1",
    "businessName": "Tolu's Kitchen",
    "legalName": "Tolu Ade Foods",
    "vendorId": None,
    "applicant": APPLICANT,
}


def results_of(
    application: Json = APPLICATION,
    campus: Json = CAMPUS,
    earlier: tuple[Json, ...] = (),
    vendors: tuple[Json, ...] = (),
) -> dict[str, str]:
    return {check: result for check, _, result in application_checks(application, campus, [*earlier], [*vendors])}


def vendor(**changes: Any) -> Json:
    return {
        "id": "v1",
        "ownerUserId": "u9",
        "businessName": "Ada's Kitchen",
        "legalName": "Ada Obi Ventures",
        **changes,
    }


def test_a_plain_application_is_in_order() -> None:
    assert set(results_of(vendors=(vendor(),)).values()) == {"good"}


def test_what_the_api_would_refuse_is_marked_as_refused() -> None:
    unproven = {**APPLICATION, "applicant": {**APPLICANT, "emailConfirmed": False}}
    assert results_of(unproven)["The mail address is proven"] == "bad"
    assert results_of(campus={**CAMPUS, "active": False})["The campus is open"] == "bad"
    assert results_of(vendors=(vendor(ownerUserId="u1"),))["The applicant owns no vendor yet"] == "bad"


def test_what_staff_must_review_is_marked() -> None:
    assert (
        results_of(vendors=(vendor(businessName="TOLUS  kitchen!"),))["No vendor has this business name"] == "waiting"
    )
    assert results_of(vendors=(vendor(legalName="Tolu Ade FOODS"),))["No vendor has this legal name"] == "waiting"
    elsewhere = {**APPLICATION, "applicant": {**APPLICANT, "campusId": None, "fullName": "Kemi Ojo"}}
    assert results_of(elsewhere)["The student belongs to this campus"] == "waiting"
    assert results_of(elsewhere)["The legal name fits the person"] == "waiting"
    rejected = {"id": "a0", "userId": "u1", "status": "rejected", "reason": "Which books?"}
    assert results_of(earlier=(rejected,))["No earlier application was rejected"] == "waiting"


def test_the_vendor_that_an_approval_made_is_no_double() -> None:
    approved = {**APPLICATION, "vendorId": "v1"}
    own = vendor(ownerUserId="u1", businessName="Tolu's Kitchen", legalName="Tolu Ade Foods")
    assert set(results_of(approved, vendors=(own,)).values()) == {"good"}


def test_an_erased_applicant_keeps_the_other_checks() -> None:
    assert len(results_of({**APPLICATION, "applicant": None})) == 5


def test_an_alert_has_a_time_to_respond_until_it_is_acknowledged_or_closed() -> None:
    alert = {"respondBy": "2026-11-23T06:15:00.000Z", "closedAt": None, "acknowledgedAt": None}
    assert alert_deadline(alert) == "2026-11-23T06:15:00.000Z"
    for name in ("closedAt", "acknowledgedAt"):
        assert alert_deadline({**alert, name: "2026-11-23T06:05:00.000Z"}) is None


def test_basis_points_are_shown_as_per_cent() -> None:
    assert (percent(425), percent(5), percent(0), percent(None)) == ("4.25 %", "0.05 %", "0.00 %", "default")
