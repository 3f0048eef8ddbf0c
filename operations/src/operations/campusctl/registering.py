"""Register functions as commands with `--json`, `--base-url`, examples, error output and exit codes."""

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import typer

from operations.campusctl.command_runners import ClusterCommands, CommandRunner, refused_by_kubectl
from operations.campusctl.exits import DONE, MISUSED, Refused
from operations.campusctl.own_commands import OwnCommands
from operations.campusctl.public_api import PublicApi
from operations.campusctl.showing import Output, show_error, show_output
from operations.campusctl.sign_ins import SignIns
from operations.kubectl import NAMESPACE, Kubectl, KubectlFailed

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        envvar="CAMPUS_URL",
        help="The gateway's address; http://localhost:PORT_BASE when omitted.",
        metavar="URL",
    ),
]
OnCluster = Annotated[bool, typer.Option("--kubernetes", help="On a cluster, by kubectl, instead of this machine.")]
Namespace = Annotated[
    str | None, typer.Option("--namespace", help=f"With --kubernetes: the namespace; {NAMESPACE} when omitted.")
]
Context = Annotated[
    str | None, typer.Option("--context", help="With --kubernetes: kubectl's context; the current one when omitted.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Key = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="UUID", help="Key of an earlier attempt whose response was lost."),
]
Page = Annotated[int, typer.Option(min=1, help="Page of the list, from 1.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="Rows of a page.")]


@dataclass
class Operator:
    """The API and the services' own commands, for a command."""

    base_url: str
    cluster: Kubectl | None = None

    @cached_property
    def api(self) -> PublicApi:
        return PublicApi(self.base_url, SignIns.of(os.environ))

    @cached_property
    def own(self) -> OwnCommands:
        return OwnCommands.of(os.environ)

    @property
    def runner(self) -> CommandRunner:
        """Where the services' own commands run: in the cluster's pods, or on this machine."""
        return ClusterCommands(self.cluster) if self.cluster else self.own

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask for confirmation on stderr; stdout is for output. Raises Refused unless the answer is yes."""
        if yes:
            return
        # typer.confirm would write a part of its prompt to stdout.
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Refused("Not confirmed: nothing was changed.", "In a script, add --yes")


Verb = Callable[..., Output]


def command(
    group: typer.Typer, name: str, *examples: str, passes_on: bool = False, on_cluster: bool = False
) -> Callable[[Verb], Verb]:
    """Register `verb(operator, ...)` in the group, with examples for its help.

    With `passes_on`, unknown options are arguments for the program that the command runs. With `on_cluster`, the
    command has `--kubernetes`, `--namespace` and `--context`.
    """

    def register(verb: Verb) -> Verb:
        signature = inspect.signature(verb, eval_str=True)
        common: dict[str, tuple[Any, Any]] = {"as_json": (AsJson, False), "base_url": (BaseUrl, None)}
        if on_cluster:
            common |= {"kubernetes": (OnCluster, False), "namespace": (Namespace, None), "context": (Context, None)}
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in list(signature.parameters.values())[1:]
        ] + [
            inspect.Parameter(own, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for own, (annotation, default) in common.items()
        ]

        def run(
            *,
            as_json: bool,
            base_url: str | None,
            kubernetes: bool = False,
            namespace: str | None = None,
            context: str | None = None,
            **given: Any,
        ) -> None:
            cluster = Kubectl(namespace or NAMESPACE, context) if kubernetes else None
            if cluster is None and (namespace or context):
                show_error(Refused("--namespace and --context need --kubernetes.", exit_code=MISUSED), as_json=as_json)
                raise typer.Exit(MISUSED)
            raise typer.Exit(_run(verb, as_json, base_url, cluster, given))

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        epilog = "Examples:\n\n" + "\n\n".join(examples)
        settings = {"ignore_unknown_options": True} if passes_on else None
        group.command(name, help=inspect.getdoc(verb), epilog=epilog, context_settings=settings)(run)
        return verb

    return register


def _run(verb: Verb, as_json: bool, base_url: str | None, cluster: Kubectl | None, given: dict[str, Any]) -> int:
    operator = Operator(base_url.rstrip("/") if base_url else "", cluster)
    try:
        if not base_url:
            # Default: the gateway of the system on this machine.
            operator.base_url = f"http://localhost:{operator.own.port_base}"
        elif not operator.base_url.startswith(("http://", "https://")):
            raise Refused(f"{base_url!r} is no valid address.", "Give --base-url as http://host:port", exit_code=2)
        output = verb(operator, **given)
    except (Refused, KubectlFailed) as error:
        refused = error if isinstance(error, Refused) else refused_by_kubectl(error)
        show_error(refused, as_json=as_json)
        return refused.exit_code
    finally:
        if "api" in operator.__dict__:
            operator.api.close()
    show_output(output, as_json=as_json)
    return output.exit_code or DONE
