"""Approvals by the second person: the decision is shown, and the hash of what was shown is sent."""

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from operations.campusctl.exits import Refused
from operations.campusctl.registering import Operator
from operations.campusctl.showing import Output

Hash = Annotated[
    str | None,
    typer.Option("--hash", metavar="SHA-256", help="Of the decision that you read. --yes needs it."),
]


def approve_decision(
    operator: Operator,
    path: str,
    question: Callable[[dict[str, Any]], str],
    *,
    approved_hash: str | None,
    yes: bool,
    key: str | None,
) -> Output:
    """Without --yes the decision is shown on stderr, and its approval confirmed. Raises Refused."""
    if yes and approved_hash is None:
        raise Refused("--yes approves only a decision that was read.", f"Name its hash: --hash, from {path}")
    if not yes:
        prepared = operator.api.get(path).data
        sys.stderr.write(json.dumps(prepared, indent=2, ensure_ascii=False) + "\n")
        operator.confirm(question(prepared), yes=False)
        approved_hash = approved_hash or prepared["hash"]
    return Output(operator.api.act(f"{path}/approve", {"hash": approved_hash}, key).data)
