"""Commands that call one endpoint each and print its response, declared as a table."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Final
from uuid import UUID

import typer

from contracts.choices import parameters_of
from operations.campusctl.approving import Hash, approve_decision
from operations.campusctl.registering import Key, Limit, Operator, Page, Verb, Yes, command
from operations.campusctl.showing import Output

ID: Final = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
_COMMON: Final = {
    "page": (Page, 1),
    "limit": (Limit, 20),
    "approved_hash": (Hash, None),
    "yes": (Yes, False),
    "key": (Key, None),
}


@dataclass(frozen=True, slots=True)
class Value:
    """A value from the caller: an option; an argument when the path has its name in braces, or with `is_argument`.

    `sent_as`: the name in the query or body; that of the option when empty.
    """

    name: str
    kind: Any = str
    text: str | None = None
    required: bool = False
    sent_as: str = ""
    flags: str = ""
    is_argument: bool = False


def one_of(name: str, *choices: str, text: str | None = None, required: bool = False) -> Value:
    """Return a value with these choices."""
    return Value(name, _choice(choices), text, required)


def _choice(values: Sequence[str]) -> Any:
    return StrEnum("Choice", {value: value for value in values})


REASON: Final = Value("reason", text="Why.", required=True)


@dataclass(frozen=True, slots=True)
class Call:
    """A command that calls an endpoint, as `GET /api/payouts/{payout_id}`. Ids in the path are its arguments.

    `columns`: those of a list. `fixed`: values that are always sent. `confirmation`: the question before a change, with
    the arguments in braces. `question`: that of an approval, from the decision.
    """

    operation: str
    summary: str
    values: tuple[Value, ...] = ()
    columns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    confirmation: str = ""
    question: Callable[[dict[str, Any]], str] | None = None

    @property
    def path(self) -> str:
        return self.operation.partition(" ")[2]

    @property
    def arguments(self) -> list[str]:
        """The names in the path, in order."""
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def sent(self) -> dict[str, Value]:
        """The values of the query or body by their name there."""
        return {value.sent_as or value.name: value for value in self.values if value.name not in self.arguments}

    def verb(self) -> Verb:
        """Return the function of the command, with the signature and the docstring that the command line shows."""
        known = {value.name: value for value in self.values}
        parameters = [_argument(known.get(name, Value(name, UUID))) for name in self.arguments]
        parameters += [_argument(value) if value.is_argument else _option(value) for value in self._offered()]
        parameters += [_parameter(name, *common) for name, common in _COMMON.items() if name in self._common()]

        def run(operator: Operator, **given: Any) -> Output:
            return self._run(operator, given)

        run.__doc__ = self.summary
        operator = inspect.Parameter("operator", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Operator)
        run.__signature__ = inspect.Signature([operator, *parameters])  # type: ignore[attr-defined]
        return run

    def _offered(self) -> list[Value]:
        """Return the values of query or body; a filter of a list offers those that the API accepts."""
        accepted = parameters_of(self.path) if self.operation.startswith("GET") else {}
        return [
            replace(value, kind=_choice(accepted[name])) if name in accepted else value
            for name, value in self.sent.items()
        ]

    def _common(self) -> tuple[str, ...]:
        if self.columns:
            return ("page", "limit")
        if self.operation.startswith("GET"):
            return ()
        if self.question:
            return ("approved_hash", "yes", "key")
        return ("yes", "key") if self.confirmation else ("key",)

    def _run(self, operator: Operator, given: dict[str, Any]) -> Output:
        path = self.path.format(**given)
        sent = {name: _as_sent(given[value.name]) for name, value in self.sent.items()} | dict(self.fixed)
        if self.columns:
            found = operator.api.get(path, page=given["page"], limit=given["limit"], **sent)
            return Output(found.data, self.columns, found.meta)
        if self.operation.startswith("GET"):
            return Output(operator.api.get(path).data)
        key = given["key"]
        if self.question:
            decision = path.removesuffix("/approve")
            return approve_decision(
                operator, decision, self.question, approved_hash=given["approved_hash"], yes=given["yes"], key=key
            )
        if self.confirmation:
            operator.confirm(self.confirmation.format(**given), yes=given["yes"])
        return Output(operator.api.act(path, sent, key).data)


@dataclass(frozen=True, slots=True)
class Own:
    """A command with a function of its own. `on_cluster`: it has `--kubernetes`."""

    function: Verb
    examples: tuple[str, ...]
    on_cluster: bool = False


Commands = Mapping[str, Call | Own]


def decision_commands(
    path: str,
    question: Callable[[dict[str, Any]], str],
    approve: str,
    reject: str,
    *,
    example: str = "",
    reasons: tuple[Value, ...] = (REASON,),
) -> Commands:
    """Return the commands of the second person, with their summaries. `example`: a reason of a rejection."""
    examples = (f"{ID} --reason '{example}'",) if example else ()
    return {
        "approve": Call(f"POST {path}/approve", approve, question=question),
        "reject": Call(f"POST {path}/reject", reject, reasons, examples=examples),
    }


def register_group(app: typer.Typer, name: str, meaning: str, commands: Commands, *, within: str = "") -> typer.Typer:
    """Add a group of commands. An example is written without the command's own words, unless variables precede them."""
    group = typer.Typer(help=meaning, no_args_is_help=True)
    for verb, declared in commands.items():
        words = " ".join(part for part in ("campusctl", within, name, verb) if part)
        function = declared.verb() if isinstance(declared, Call) else declared.function
        examples = declared.examples or (ID,)
        whole = [example if " campusctl " in example else f"{words} {example}".rstrip() for example in examples]
        command(group, verb, *whole, on_cluster=isinstance(declared, Own) and declared.on_cluster)(function)
    app.add_typer(group, name=name)
    return group


def _argument(value: Value) -> inspect.Parameter:
    return _parameter(value.name, Annotated[value.kind, typer.Argument(help=value.text)])


def _option(value: Value) -> inspect.Parameter:
    shown = typer.Option(*([value.flags] if value.flags else []), help=value.text)
    if value.required:
        return _parameter(value.name, Annotated[value.kind, shown])
    return _parameter(value.name, Annotated[value.kind | None, shown], None)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _as_sent(given: Any) -> Any:
    """Return the JSON form of a value; None stays None."""
    return str(given) if isinstance(given, UUID | StrEnum) else given
