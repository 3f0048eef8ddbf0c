"""Complaints and resolutions of disputes (contract sections 5.5, 6.2 and 6.5)."""

from dataclasses import replace

import pytest

from common.primitives.decisions import PreparedDecision
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden
from orders.domain.disputes import Complaint, Resolution, evidence_author, release_of, trigger_of


@pytest.mark.parametrize(
    ("cause", "trigger"),
    [("buyer", "buyer_disputes"), ("pin_window", "pin_window_ended"), ("chargeback", "chargeback_opened")],
)
def test_each_cause_opens_a_dispute_by_its_own_trigger(cause, trigger: str) -> None:
    assert Complaint(cause, "not received").trigger == trigger


@pytest.mark.parametrize(
    ("outcome", "trigger"),
    [("buyer", "resolved_for_buyer"), ("vendor", "resolved_for_vendor"), ("split", "resolved_for_vendor")],
)
def test_only_a_resolution_for_the_buyer_refunds_the_whole_order(outcome, trigger: str) -> None:
    assert trigger_of(outcome) == trigger


def test_the_hash_of_a_resolution_covers_what_the_checker_approves() -> None:
    resolution = Resolution(new_id(), new_id(), "split", 50_001, "prepared", new_id(), "Half was broken")
    others = [
        replace(resolution, id=new_id()),
        replace(resolution, order_id=new_id()),
        replace(resolution, outcome="buyer"),
        replace(resolution, refund_minor=50_002),
        replace(resolution, prepared_by=new_id()),
        replace(resolution, reason="All was broken"),
        replace(resolution, reason=None),
    ]
    assert len({resolution.hash, *(other.hash for other in others)}) == 8
    assert resolution.decision == PreparedDecision("prepared", resolution.prepared_by, resolution.hash)
    assert replace(resolution, status="approved").hash == resolution.hash


@pytest.mark.parametrize(
    ("refund_minor", "escrow_minor", "release_minor"),
    [(0, 100_000, 100_000), (40_001, 100_000, 59_999), (100_000, 100_000, 0), (60_000, 59_999, 0), (60_000, 0, 0)],
)
def test_the_release_is_the_escrow_balance_less_the_refund(refund_minor, escrow_minor, release_minor) -> None:
    assert release_of(refund_minor, escrow_minor) == release_minor


@pytest.mark.parametrize(
    ("roles", "author"),
    [({"buyer"}, "buyer"), ({"vendor"}, "vendor"), ({"buyer", "vendor"}, "vendor"), ({"support", "buyer"}, "buyer")],
)
def test_each_party_adds_evidence_of_its_own_side(roles, author: str) -> None:
    assert evidence_author(frozenset(roles)) == author


@pytest.mark.parametrize("roles", [set(), {"hub_agent"}, {"support"}])
def test_staff_and_hub_agents_add_no_evidence(roles) -> None:
    with pytest.raises(Forbidden):
        evidence_author(frozenset(roles))
