"""The simulation of the busiest hour, and the autoscaling of deploy/k8s in it."""

from dataclasses import replace

import pytest

from lab.autoscaling import Cluster, Hour, Scaling, Worker, scalings, simulate_hour, workers
from operations.processes import CAMPUS

# The objective of the journey: 99 of 100 within this time (docs/observability.md, order-journey-lag).
OBJECTIVE_SECONDS = 5.0
WORKER = Worker("orders-worker", {"orders.payments": 2.0}, 5.0, Scaling(2, 10, 100, 0.6))
# Twenty orders a second are forty messages, a fifth of one core.
QUIET = Hour(20.0, 1.5, killed_every=100_000, outage_seconds=0.0)


def test_a_quiet_hour_has_no_waits_and_no_new_workers() -> None:
    hour = simulate_hour(WORKER, QUIET, Cluster(), OBJECTIVE_SECONDS)
    assert hour.most_instances == 2
    assert hour.wait_p99_seconds <= 1
    assert hour.left < 50
    assert hour.messages == pytest.approx(20 * 3600 * 2, rel=0.02)


def test_the_same_seed_gives_the_same_hour() -> None:
    assert simulate_hour(WORKER, QUIET, Cluster(), OBJECTIVE_SECONDS) == simulate_hour(
        WORKER, QUIET, Cluster(), OBJECTIVE_SECONDS
    )
    assert simulate_hour(WORKER, QUIET, Cluster(), OBJECTIVE_SECONDS) != simulate_hour(
        WORKER, replace(QUIET, seed=2), Cluster(), OBJECTIVE_SECONDS
    )


def test_webhooks_delayed_by_an_outage_are_processed() -> None:
    hour = simulate_hour(WORKER, replace(QUIET, outage_seconds=120.0, resend_seconds=5.0), Cluster(), OBJECTIVE_SECONDS)
    assert hour.longest_queue > 1_000
    assert hour.most_instances > 2
    assert hour.messages == pytest.approx(20 * 3600 * 2, rel=0.02)
    assert hour.left < 50
    assert hour.late_share_undisturbed == 0


def test_too_few_workers_are_late() -> None:
    few = replace(WORKER, scaling=Scaling(1, 1, 100, 0.6))
    hour = simulate_hour(few, replace(QUIET, orders_a_second=110.0), Cluster(), OBJECTIVE_SECONDS)
    assert hour.left > 1_000
    assert hour.late_share > 0.5


def test_every_scaled_process_is_a_process_of_the_launcher() -> None:
    names = {plan.name for plan in CAMPUS.processes} - {"console", "sandbox"}
    assert set(scalings()) == names
    assert all(line.least <= line.most for line in scalings().values())


@pytest.mark.parametrize("seed", [1, 2])
def test_shipped_autoscaling_meets_the_objective_in_the_busiest_hour(seed: int) -> None:
    for worker in workers(scalings()):
        hour = simulate_hour(worker, Hour(seed=seed), Cluster(), OBJECTIVE_SECONDS)
        assert hour.late_share_undisturbed <= 0.01, hour.name
        assert hour.left < 1_000, hour.name


def test_queue_lengths_alone_miss_the_objective_before_any_outage() -> None:
    scaling_of = {name: replace(scaling, busy_cores=None) for name, scaling in scalings().items()}
    [worker] = [worker for worker in workers(scaling_of) if worker.name == "notifications-worker"]
    assert simulate_hour(worker, Hour(seed=2), Cluster(), OBJECTIVE_SECONDS).late_share_undisturbed > 0.05
