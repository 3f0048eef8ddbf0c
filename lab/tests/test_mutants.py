"""The faults of `make mutants`, and what it says about those that no test detects."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.mutants.guards import SERVICES, killed_guards
from lab.mutants.mutants import ROOT, SCOPES, Mutant
from lab.mutants.python_operators import python_mutants
from lab.mutants.reach import TESTS_MAX, Reach
from lab.mutants.report import Result, explanations, print_report
from lab.mutants.sql_operators import faults_of_statement, is_statement
from testkit.fixtures import DatabaseFactory

CODE = '''
LIMIT = 3

def allowed(tries: int) -> bool:
    """Up to the limit."""
    if tries < 0:
        raise ValueError(tries)
    return tries <= LIMIT
'''


@pytest.fixture
def mutants(tmp_path: Path) -> Iterator[dict[str, str]]:
    path = tmp_path / "tries.py"
    path.write_text(CODE, encoding="utf-8")
    yield {mutant.id.rpartition(": ")[2]: mutant.source() for mutant in python_mutants(path, "x", ("python", "sql"))}
    assert path.read_text(encoding="utf-8") == CODE, "a mutant changes a copy"


def results_of(source: str) -> list[Any]:
    names: dict[str, Any] = {}
    exec(source, names)
    found = []
    for tries in (-1, 0, 3, 4):
        try:
            found.append(names["allowed"](tries))
        except ValueError:
            found.append("rejected")
    return found


def test_each_fault_of_a_function_changes_one_of_its_results(mutants: dict[str, str]) -> None:
    assert len(mutants) == 6
    assert "tries <= LIMIT with Lt" in mutants
    results = {description: results_of(source) for description, source in mutants.items()}
    assert all(found != results_of(CODE) for found in results.values()), results


def test_a_missing_condition_keeps_the_parameters_of_its_statement() -> None:
    faults = dict(faults_of_statement("UPDATE t SET a = $2 WHERE id = $1 AND status IN ('x', 'y') RETURNING id"))
    assert faults == {
        "no condition id = $1": (
            "UPDATE t SET a = $2 WHERE ((id = $1) IS NOT NULL OR true) AND status IN ('x', 'y') RETURNING id"
        ),
        "no condition status IN ('x', 'y')": (
            "UPDATE t SET a = $2 WHERE id = $1 AND ((status IN ('x', 'y')) IS NOT NULL OR true) RETURNING id"
        ),
    }


@pytest.mark.parametrize(
    ("statement", "faults"),
    [
        ("SELECT a FROM t ORDER BY a FOR UPDATE SKIP LOCKED", ["no lock FOR UPDATE SKIP LOCKED"]),
        ("INSERT INTO t VALUES ($1) ON CONFLICT (id) DO NOTHING", ["no conflict clause ON CONFLICT (id) DO NOTHING"]),
        ("SELECT 1 FROM t WHERE at BETWEEN $1 AND $2", ["no condition at BETWEEN $1 AND $2"]),
        ("saved AS (UPDATE t SET a = $1 WHERE id = $2 RETURNING id)", ["no condition id = $2"]),
    ],
)
def test_locks_conflict_clauses_and_whole_conditions_are_dropped(statement: str, faults: list[str]) -> None:
    assert is_statement(statement)
    assert [description for description, _ in faults_of_statement(statement)] == faults


@pytest.mark.parametrize("service", SERVICES)
async def test_a_missing_guard_of_a_database_is_detected(service: str, fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database(service)
    results = [result async for result in killed_guards(urls.admin, service)]
    assert len(results) > 150
    survivors = {mutant.id for mutant, is_killed in results if not is_killed}
    assert survivors == {name for name in explanations() if name.startswith(f"{service}: ")}


def test_an_unexplained_survivor_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    results = [Result(Mutant(f"m{number}", "sql", "payouts"), number > 0, 3) for number in range(100)]
    assert print_report(results, {"m0": "equivalent: the key is unique"})
    assert "equivalent: the key is unique" in capsys.readouterr().out
    assert not print_report(results, {})
    assert "NOT EXPLAINED" in capsys.readouterr().out


def test_a_low_share_fails_although_each_survivor_is_explained() -> None:
    results = [Result(Mutant(f"m{number}", "sql", "payouts"), number > 5, 3) for number in range(100)]
    assert not print_report(results, {f"m{number}": "equivalent" for number in range(6)})


def test_a_statement_is_tested_by_the_readers_of_its_name() -> None:
    path = Path("services/payouts/src/payouts/store/transfers.py")
    mutant = Mutant("x", "sql", "payouts", path, name="_CLAIM")
    reach = Reach(
        {
            "tests/test_a.py::test_claims": (2.0, [f"{path}:claim_transfer"]),
            "tests/test_b.py::test_other": (1.0, [f"{path}:save_fee"]),
        }
    )
    assert reach.tests_of(mutant) == ["tests/test_a.py::test_claims"]


@pytest.mark.parametrize("name", ["_SAVE_TRANSITION", "_transition"])
def test_a_statement_of_a_cached_function_is_tested_by_the_readers_of_that_function(name: str) -> None:
    path = Path("services/orders/src/orders/store/orders.py")
    first, later = "tests/test_a.py::test_first", "tests/test_b.py::test_later"
    reach = Reach(
        {
            first: (1.0, [f"{path}:_transition", f"{path}:save_transition"]),
            later: (1.0, [f"{path}:save_transition"]),
            "tests/test_c.py::test_other": (1.0, [f"{path}:save_escrow"]),
        }
    )
    assert set(reach.tests_of(Mutant("x", "sql", "orders", path, name=name))) == {first, later}


def test_all_quick_tests_of_a_function_run_and_few_slow_ones() -> None:
    path = Path("services/payouts/src/payouts/domain/fees.py")
    function = f"{path}:fee_of"
    cases = {f"tests/test_fees.py::test_fee[{number}]": (0.01, [function]) for number in range(100)}
    slow = {f"tests/test_slow.py::test_fee[{number}]": (4.5, [function]) for number in range(100)}
    chosen = Reach(cases | slow).tests_of(Mutant("x", "python", "payouts", path, name="fee_of"))
    assert set(chosen[:100]) == set(cases)
    assert len(chosen[100:]) == 1


def test_the_tests_of_a_file_that_names_the_function_come_before_faster_ones() -> None:
    path = Path("services/payouts/src/payouts/store/transfers.py")
    function = f"{path}:requeue_unsent"
    naming = (
        "services/payouts/tests/integration/test_transfers_store.py"
        "::test_only_an_unsent_attempt_is_held_or_queued_again"
    )
    others = {f"tests/test_other.py::test_more[{number}]": (2.0, [function]) for number in range(100)}
    chosen = Reach({naming: (9.0, [function])} | others).tests_of(
        Mutant("x", "sql", "payouts", path, name="_REQUEUE_UNSENT")
    )
    assert naming in chosen
    assert len(chosen) == TESTS_MAX


def test_every_pattern_of_a_scope_has_files() -> None:
    folders = [(ROOT / scope.package, pattern) for scope in SCOPES.values() for pattern in scope.files]
    assert [pattern for folder, pattern in folders if not list(folder.glob(pattern))] == []
