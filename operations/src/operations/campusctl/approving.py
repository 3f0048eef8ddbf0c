"""Approvals by a checker: show the decision, then send the hash of its content."""

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
    typer.Option("--hash", metavar="SHA-256", help="Hash of the decision that you read; required with --yes."),
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
    """Return the decision's hash. Without --yes, show the decision and ask for confirmation. Raises Refused."""
    if yes and approved_hash is None:
        raise Refused("--yes needs the hash of the decision that you read.", f"Name its hash: --hash, from {path}")
    if not yes:
        prepared = operator.api.get(path).data
        sys.stderr.write(json.dumps(prepared, indent=2, ensure_ascii=False) + "\n")
        operator.confirm(question(prepared), yes=False)
        approved_hash = approved_hash or prepared["hash"]
    return Output(operator.api.act(f"{path}/approve", {"hash": approved_hash}, key).data)
