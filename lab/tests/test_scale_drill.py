"""Computations of the scale drill: the ports of its processes, the addresses of its servers, and the unavailability."""

from collections import Counter
from pathlib import Path

from campus_tools.servers.postgresql import PrivatePostgresql
from lab.drills.doubled import doubled
from lab.drills.scale.availability import READ, WRITE, Probe, Prober
from lab.drills.scale.journeys import Journey, Journeys
from lab.drills.scale.servers import scaled_servers
from operations.journey import Marketplace, SignedInUser
from operations.processes import CAMPUS

PORT_BASE = 20_000


def prober_of(*probes: Probe) -> Prober:
    prober = Prober(Marketplace.at("http://none", "http://none", {}), SignedInUser("buyer", "token"), "product")
    prober.probes.extend(probes)
    return prober


def test_two_of_every_process_have_ports_of_their_own() -> None:
    plan = doubled(CAMPUS, workers=2)
    kinds = Counter(process.module for process in plan.processes if process.service != "sandbox")
    assert set(kinds.values()) == {2}
    ports = [port for process in plan.processes for port in {process.port_offset, process.health_offset}]
    # The balancers of the API processes have the ports of the single instances.
    ports += range(len(CAMPUS.services))
    assert len(ports) == len(set(ports))


def test_the_servers_have_ports_that_no_process_has(tmp_path: Path) -> None:
    _, broker, database = scaled_servers(tmp_path, PORT_BASE, print)
    plan = doubled(CAMPUS, workers=2)
    of_processes = {
        PORT_BASE + port for process in plan.processes for port in (process.port_offset, process.health_offset)
    }
    of_servers = [broker.port, *broker.ports, PORT_BASE + 60, PORT_BASE + 81]
    assert len(of_servers) == len(set(of_servers))
    assert of_processes.isdisjoint(of_servers)
    assert f"127.0.0.1:{PORT_BASE + 60},127.0.0.1:{PORT_BASE + 81}/postgres" in database.url


def test_clients_keep_the_address_of_the_database_after_a_failover(tmp_path: Path) -> None:
    _, _, database = scaled_servers(tmp_path, PORT_BASE, print)
    before, replica = database.url, database.replica
    database.primary, database.replica = database.replica, database.primary
    assert isinstance(replica, PrivatePostgresql)
    assert database.primary is replica
    assert database.url == before


def test_unavailability_lasts_from_the_first_failure_to_the_success_after_the_last() -> None:
    prober = prober_of(
        Probe(READ, 1.0, 1.1, True),
        Probe(READ, 2.0, 2.1, False),
        Probe(READ, 3.0, 3.5, True),
        Probe(READ, 4.0, 4.1, False),
        # It started before the last failure, so it says nothing about the time after it.
        Probe(READ, 3.9, 9.0, True),
        Probe(READ, 5.0, 6.0, True),
        Probe(WRITE, 2.0, 2.2, True),
    )
    reads = prober.between(READ, 0.0, 10.0)
    assert (reads.requests, reads.failed, reads.seconds) == (6, 2, 4.0)
    writes = prober.between(WRITE, 0.0, 10.0)
    assert (writes.requests, writes.failed, writes.seconds) == (1, 0, 0.0)


def test_a_request_that_waits_counts_without_a_failure() -> None:
    seen = prober_of(Probe(WRITE, 1.0, 4.0, True), Probe(WRITE, 20.0, 29.0, True)).between(WRITE, 0.0, 10.0)
    assert (seen.failed, seen.longest_seconds) == (0, 3.0)


def test_without_a_later_success_the_unavailability_has_no_end() -> None:
    assert prober_of(Probe(READ, 1.0, 1.1, False)).between(READ, 0.0, 10.0).seconds == float("inf")


def test_the_slowest_order_is_one_that_ran_during_the_stop() -> None:
    user = SignedInUser("buyer", "token")
    journeys = Journeys(Marketplace.at("http://none", "http://none", {}), user, user, user, [])
    journeys.orders = [Journey(0.0, ended=90.0), Journey(100.0, ended=103.0), Journey(109.0, ended=111.0)]
    assert journeys.slowest(101.0, 110.0) == 3.0
