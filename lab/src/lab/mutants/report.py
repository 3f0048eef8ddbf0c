"""The list of explained survivors, and the table of a run."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.mutants.mutants import Mutant

SHARE_MIN: Final = 0.95
_SURVIVORS: Final = Path(__file__).with_name("survivors.toml")


@dataclass(frozen=True, slots=True)
class Result:
    """The end of one mutant; `tests` is the number of tests that reach it."""

    mutant: Mutant
    is_killed: bool
    tests: int


def explanations() -> dict[str, str]:
    """By mutant: the reason why no test can or need detect it."""
    return dict(tomllib.loads(_SURVIVORS.read_text(encoding="utf-8"))["survivors"])


def print_report(results: Sequence[Result], explained: dict[str, str]) -> bool:
    """Print the table of the scopes and each survivor; returns whether the promise holds."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for result in results:
        count = counts.setdefault((result.mutant.scope, result.mutant.kind), Counter())
        count.update(all=1, killed=result.is_killed, explained=not result.is_killed and result.mutant.id in explained)
    print(f"\n{'scope':16} {'kind':8} {'mutants':>8} {'caught':>8} {'explained':>10} {'open':>6}")
    for (scope, kind), count in sorted(counts.items()):
        open_count = count["all"] - count["killed"] - count["explained"]
        print(f"{scope:16} {kind:8} {count['all']:8} {count['killed']:8} {count['explained']:10} {open_count:6}")
    survivors = [result for result in results if not result.is_killed]
    for result in survivors:
        reason = explained.get(result.mutant.id, f"NOT EXPLAINED, reached by {result.tests} tests")
        print(f"  survived: {result.mutant.id}\n    {reason}")
    killed = len(results) - len(survivors)
    share = killed / len(results) if results else 1.0
    print(f"{killed} of {len(results)} caught, {share:.1%}; at least {SHARE_MIN:.0%} are required")
    return share >= SHARE_MIN and all(result.mutant.id in explained for result in survivors)
