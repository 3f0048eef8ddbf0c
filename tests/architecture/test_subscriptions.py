"""The topology, the services' subscriptions and their imports agree."""

import importlib
import re

import pytest

from contracts import identity, notifications, operations, orders, payments, payouts, topology
from contracts.event import Event
from contracts.permissions import PERMISSIONS_BY_ROLE, ROLES_BY_RANK, STAFF_ROLES
from testkit.cases import for_each
from tests.architecture.sources import SHAPED, imports_of, inside, python_files

MODULES = (identity, orders, payments, payouts, notifications, operations)
EVENTS = [
    value
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Event) and hasattr(value, "TYPE")
]
services = pytest.mark.parametrize("service", SHAPED)


@services
def test_a_service_subscribes_to_exactly_its_events_of_the_topology(service) -> None:
    subscriptions = importlib.import_module(f"{service}.app").SERVICE.subscriptions
    received = {line.event.TYPE for line in subscriptions}
    mapped = {event.TYPE for event in topology.SUBSCRIPTIONS[service]} - {identity.SessionRevoked.TYPE}
    assert received == mapped


@services
def test_the_work_queues_of_a_service_are_in_the_topology(service) -> None:
    work = {item.queue for item in importlib.import_module(f"{service}.app").SERVICE.work_items}
    assert work == {queue for queue in topology.WORK_QUEUES if queue.startswith(f"{service}.")}


@services
def test_a_service_imports_the_contracts_that_it_uses_only(service) -> None:
    package = SHAPED[service]
    may = {
        service,
        "operations",
        "permissions",
        "demo",
        "event",
        "work",
        "topology",
        "opening_hours",
        "severities",
        "channels",
        "transaction_types",
        "webhook_types",
    } | {event.publisher() for event in topology.SUBSCRIPTIONS[service]}
    foreign = {
        name.split(".")[1]
        for path in python_files(package)
        for name in imports_of(path)
        if name.startswith("contracts.") and name.split(".")[1] not in may
    }
    assert foreign == set()


@services
def test_only_consumers_import_events_of_other_services(service) -> None:
    package = SHAPED[service]
    foreign = tuple(
        f"contracts.{module}"
        for module in ("identity", "orders", "payments", "payouts", "notifications")
        if module != service
    )
    strays = [
        f"{path.relative_to(package)} imports {name}"
        for path in python_files(package)
        if inside(path, package) not in ("consumers", "demo", "streams")
        for name in imports_of(path)
        if name.startswith(foreign)
    ]
    assert strays == []


@for_each("event", EVENTS, ids=lambda event: event.TYPE)
def test_an_event_is_named_by_its_fact(event) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z]+(_[a-z]+)*\.v[0-9]+", event.TYPE)
    words = event.TYPE.split(".")[1].split("_")
    assert event.__name__ == "".join(word.capitalize() for word in words)
    module = event.__module__.rsplit(".", 1)[-1]
    assert event.publisher() == module


def test_no_two_events_share_a_type() -> None:
    assert len({event.TYPE for event in EVENTS}) == len(EVENTS)


def test_public_events_hold_no_secret_or_personal_data() -> None:
    received = {event.TYPE for event in topology.PUBLIC}
    assert not any(name.startswith(("identity.", "operations.")) for name in received)
    assert not received & {orders.DeliveryPinIssued.TYPE, payouts.BankDetailsChanged.TYPE}


def test_every_role_has_a_rank() -> None:
    assert set(ROLES_BY_RANK) == set(PERMISSIONS_BY_ROLE)
    money = {permission for role in ("finance_maker", "finance_checker") for permission in PERMISSIONS_BY_ROLE[role]}
    # Every member of staff reads its own work and the names of colleagues.
    assert PERMISSIONS_BY_ROLE["platform_admin"] & money == {"work:read", "staff_names:read"}
    assert "buyer" not in STAFF_ROLES


def test_no_role_may_both_prepare_and_approve() -> None:
    for role, permissions in PERMISSIONS_BY_ROLE.items():
        prepared = {permission.split(":")[0] for permission in permissions if permission.endswith(":prepare")}
        approved = {permission.split(":")[0] for permission in permissions if permission.endswith(":approve")}
        assert not prepared & approved, role
