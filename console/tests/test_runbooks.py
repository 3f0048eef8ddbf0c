"""The pages of the console to which the steps of a runbook lead."""

import pytest

from console.pages.oncall.runbooks import page_of_step
from console.roles import who_may

SUBJECT = "/payout-exceptions/of/0197c1de-7c00-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("command", "page"),
    [
        ("GET /api/payout-exceptions/:id", SUBJECT),
        ("POST /api/payout-exceptions/:id/query", SUBJECT),
        ("POST /api/payouts/:id/reset", "/payouts"),
        ("GET /api/payout-exceptions/observations", "/payout-exceptions/observations"),
        ("GET /api/reconciliations?status=prepared", "/reconciliations?status=prepared"),
        ("GET /api/transactions?orderId=", "/transactions"),
        ("campusctl call GET '/api/audits?verdict=broken'", "/audits?verdict=broken"),
        ("campusctl exceptions list --status open", "/payout-exceptions"),
        ("campusctl quarantine approve ID", "/quarantined-charges"),
        ("campusctl webhooks dead replay ID", "/dead-letter-webhooks"),
        ("campusctl rotation roll", ""),
        ("reserved", ""),
    ],
)
def test_a_step_links_to_its_page_in_the_console(command: str, page: str) -> None:
    assert page_of_step(command, SUBJECT) == page


def test_a_permission_names_its_roles_in_words() -> None:
    assert who_may("payouts:reset") == "staff on call"
    assert who_may("reconciliations:prepare", "reconciliations:approve") == "finance maker or finance checker"
    assert who_may("bank_details:own") == "vendor"
