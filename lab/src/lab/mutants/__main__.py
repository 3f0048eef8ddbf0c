"""`make mutants`: one fault at a time in the code or in a database, which a test must detect."""

import argparse
import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from lab.mutants import guards
from lab.mutants.mutants import KINDS, SCOPES, Mutant
from lab.mutants.python_operators import python_mutants
from lab.mutants.reach import TESTS_MAX
from lab.mutants.report import Result, explanations, print_report
from lab.mutants.running import Runner, migrated_database, shared_servers


def main() -> None:
    """Exit with status 1 when a survivor is not explained, or too few mutants were caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--service", action="append", choices=SCOPES, help="default: all scopes")
    parser.add_argument("--kind", action="append", choices=KINDS, help="default: all")
    parser.add_argument("--sample", type=int, default=0, help="so many mutants of each scope and kind, instead of all")
    parser.add_argument("--seed", type=int, default=0, help="chooses the sample")
    parser.add_argument("--match", default="", help="only mutants whose name contains this text, as /domain/ does")
    parser.add_argument(
        "--tests",
        action="append",
        help="these tests instead of a selection of the scope's; all that reach a mutant run",
    )
    parser.add_argument("--survivors-of", type=Path, help="only the mutants that survived in this earlier output")
    parser.add_argument(
        "--caught-in",
        type=Path,
        action="append",
        default=[],
        help="mutants that this earlier output caught are not run again",
    )
    parser.add_argument("--list", action="store_true", help="print the mutants of the code, and run none")
    options = parser.parse_args()
    os.nice(10)
    # The tests of the present mutant and the servers end with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.list:
        for scope in _scopes(options):
            for mutant in _mutants(scope, options):
                print(mutant.id)
        return
    with shared_servers() as folder:
        results = list(_shown(_results(options, folder)))
    sys.exit(0 if print_report(results, explanations()) else 1)


def _scopes(options: argparse.Namespace) -> list[str]:
    return options.service or [*SCOPES]


def _mutants(scope: str, options: argparse.Namespace) -> list[Mutant]:
    """Return the chosen mutants of the code of a scope."""
    kinds = tuple(options.kind or KINDS)
    found: list[Mutant] = []
    for path in SCOPES[scope].sources():
        found += python_mutants(path, scope, kinds)
    chosen = [mutant for mutant in found if options.match in mutant.id]
    if options.survivors_of is not None:
        output = options.survivors_of.read_text(encoding="utf-8")
        chosen = [mutant for mutant in chosen if f"SURVIVED {mutant.id} (" in output]
    return list(_sampled(chosen, options))


def _sampled(mutants: list[Mutant], options: argparse.Namespace) -> Iterator[Mutant]:
    for kind in KINDS:
        of_kind = [mutant for mutant in mutants if mutant.kind == kind]
        if options.sample and len(of_kind) > options.sample:
            of_kind = random.Random(options.seed).sample(of_kind, options.sample)
        yield from of_kind


def _results(options: argparse.Namespace, folder: Path) -> Iterator[Result]:
    for scope in _scopes(options):
        if scope in guards.SERVICES and "guard" in (options.kind or KINDS):
            yield from asyncio.run(_guard_results(scope))
        mutants = _mutants(scope, options)
        outputs = "".join(path.read_text(encoding="utf-8") for path in options.caught_in)
        caught = [mutant for mutant in mutants if f"caught   {mutant.id} (" in outputs]
        yield from (Result(mutant, is_killed=True, tests=0) for mutant in caught)
        left = [mutant for mutant in mutants if mutant not in caught]
        if left:
            yield from _code_results(scope, left, folder, options.tests)


async def _guard_results(service: str) -> list[Result]:
    async with migrated_database(service) as admin_url:
        return [Result(mutant, is_killed, 1) async for mutant, is_killed in guards.killed_guards(admin_url, service)]


def _code_results(scope: str, mutants: list[Mutant], folder: Path, chosen: list[str] | None) -> Iterator[Result]:
    print(f"{scope}: {len(mutants)} mutants; first all tests without any", flush=True)
    runner = Runner(SCOPES[scope].package, folder / scope)
    reach = runner.baseline(chosen or SCOPES[scope].tests, folder / f"{scope}.json")
    for mutant in mutants:
        reaching = reach.tests_of(mutant, sys.maxsize if chosen else TESTS_MAX)
        yield Result(mutant, bool(reaching) and runner.kills(mutant, reaching), len(reaching))


def _shown(results: Iterable[Result]) -> Iterator[Result]:
    started, killed = time.monotonic(), 0
    for number, result in enumerate(results, 1):
        killed += result.is_killed
        seconds = time.monotonic() - started
        word = "caught" if result.is_killed else "SURVIVED"
        print(f"{number:5} {killed:5} {seconds:6.0f} s  {word:8} {result.mutant.id} ({result.tests})", flush=True)
        yield result


if __name__ == "__main__":
    main()
