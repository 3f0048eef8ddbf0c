"""Poolers and broker have the limits and permissions that the code needs."""

import re

import pytest

from common.messaging.topology import dead_letter_queue_of, declared_topology, delay_queue_of
from common.primitives.retry import RetryLadder
from contracts.topology import DELAY_EXCHANGE, RETRY_EXCHANGE, WORK_EXCHANGE
from operations.broker_accounts import (
    QUEUES_MAX,
    SUBSCRIBER_LIMITS,
    SUBSCRIBER_POLICY,
    SUBSCRIBER_POLICY_NAME,
    Rights,
    rights_of_service,
    rights_of_subscriber,
)
from tests.architecture.kustomize import OPERATED, OVERLAYS
from tests.architecture.manifests import (
    SETTINGS,
    name_of,
    of_kind,
)
from tests.architecture.sources import ROOT


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_poolers_keep_as_many_statements_as_the_drivers(overlay) -> None:
    source = (ROOT / "libs/common/src/common/database/connecting.py").read_text()
    statements = int(re.search(r"statement_cache_size=(\d+)", source)[1])
    for it in of_kind(overlay, "Pooler"):
        parameters = it["spec"]["pgbouncer"]["parameters"]
        assert int(parameters["max_prepared_statements"]) >= statements
        assert it["spec"]["pgbouncer"]["poolMode"] == "transaction"


def spec_of_rights(overlay: str, account: str) -> Rights:
    (permission,) = (it["spec"]["permissions"] for it in of_kind(overlay, "Permission") if name_of(it) == account)
    topics = {
        it["spec"]["permissions"]["exchange"]: (it["spec"]["permissions"]["write"], it["spec"]["permissions"]["read"])
        for it in of_kind(overlay, "TopicPermission")
        if it["spec"]["userReference"]["name"] == account
    }
    return Rights(permission["configure"], permission["write"], permission["read"], topics)


@pytest.mark.parametrize("overlay", OPERATED)
def test_accounts_have_the_permissions_tested_on_a_broker(overlay) -> None:
    """`operations/tests/test_broker_accounts.py` tries them."""
    for service in SETTINGS:
        assert spec_of_rights(overlay, f"broker-{service}") == rights_of_service(service)
    assert spec_of_rights(overlay, "subscriber-demo") == rights_of_subscriber("demo")
    users = {name_of(it): it["spec"] for it in of_kind(overlay, "User")}
    assert {name_of(it) for it in of_kind(overlay, "Permission")} == set(users)
    assert not any("administrator" in user.get("tags", []) for user in users.values())


@pytest.mark.parametrize("overlay", OPERATED)
def test_the_provisioner_s_account_declares_the_whole_topology(overlay) -> None:
    topology = declared_topology(RetryLadder())
    ours = {
        topology.events_exchange,
        topology.public_exchange,
        topology.marker,
        WORK_EXCHANGE,
        RETRY_EXCHANGE,
        DELAY_EXCHANGE,
    }
    ours |= {delay_queue_of(delay) for delay in topology.ladder.delays_seconds}
    ours |= {*topology.bindings, *(dead_letter_queue_of(name) for name in topology.bindings)}
    rights = spec_of_rights(overlay, "broker-topology")
    for pattern in (rights.configure, rights.write, rights.read):
        assert all(re.search(pattern, name) for name in ours)
        assert not any(re.search(pattern, foreign) for foreign in ("sub.demo.orders", "amq.topic", "other"))
    # A queue that dead-letters by the default exchange needs the right to write there.
    assert re.search(rights.write, "amq.default")


@pytest.mark.parametrize("overlay", OPERATED)
def test_subscribers_have_the_limits_tested_on_a_broker(overlay) -> None:
    (subscriber,) = (it["spec"] for it in of_kind(overlay, "User") if name_of(it) == "subscriber-demo")
    named = {"connections": "max-connections", "channels": "max-channels"}
    assert {named[name]: number for name, number in subscriber["limits"].items()} == SUBSCRIBER_LIMITS
    (policy,) = (it["spec"] for it in of_kind(overlay, "Policy") if name_of(it) == SUBSCRIBER_POLICY_NAME)
    assert (policy["pattern"], policy["applyTo"]) == (SUBSCRIBER_POLICY["pattern"], SUBSCRIBER_POLICY["apply-to"])
    assert policy["definition"] == SUBSCRIBER_POLICY["definition"]
    (host,) = (it["spec"] for it in of_kind(overlay, "Vhost"))
    assert (host["name"], host["limits"], host["deletionPolicy"]) == ("/", {"queues": QUEUES_MAX}, "retain")
