"""Create the secrets of a cluster, and list what a person must supply."""

from pathlib import Path
from typing import Annotated, Final

import typer

from operations.campusctl.api_commands import Own, register_group
from operations.campusctl.exits import MISUSED, Refused
from operations.campusctl.registering import Operator
from operations.campusctl.showing import Output
from operations.cluster_secrets import (
    Cluster,
    SecretsRefused,
    Servers,
    StoreForm,
    Target,
    read_supplied,
    write_new,
)

TargetName = Annotated[Target, typer.Option("--for", help="Production, or staging with the sandbox and demo accounts.")]
ServersName = Annotated[Servers, typer.Option("--servers", help="Who runs PostgreSQL and RabbitMQ.")]

_NEXT: Final = {
    StoreForm.external_secrets: "Write each file to the store under its path without .json, then delete the folder",
    StoreForm.kubeseal: "Encrypt each file with kubeseal, then delete the folder",
    StoreForm.env: "Give the file to docker compose or make run, then delete it",
}


def register(app: typer.Typer) -> None:
    of_production = "--for production --form sealed-secrets --supplied supplied.env --out secrets-production"
    commands = {
        "new": Own(new, ("--for staging --out secrets-staging", of_production)),
        "list": Own(list_secrets, ("--for production --json",)),
        "supplied": Own(show_supplied, ("--for production > supplied.env",)),
    }
    register_group(app, "secrets", "Secrets of a cluster.", commands)


def new(
    operator: Operator,
    target: TargetName,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A new folder; one with content is refused.")],
    form: Annotated[StoreForm, typer.Option("--form", help="What takes the secrets.")] = StoreForm.external_secrets,
    servers: ServersName = Servers.operators,
    supplied: Annotated[
        Path | None, typer.Option("--supplied", metavar="FILE", help="NAME=value lines of `secrets supplied`.")
    ] = None,
    manifests: Annotated[
        Path, typer.Option("--manifests", metavar="FOLDER", help="With sealed-secrets: the folder deploy/k8s.")
    ] = Path("deploy/k8s"),
) -> Output:
    """Create every secret of a cluster, once, in files that only you can read. What a provider issues is read from a
    file.
    """
    try:
        written = write_new(out, form, Cluster(target, servers), read_supplied(supplied), manifests)
    except SecretsRefused as refusal:
        raise Refused(str(refusal), "campusctl secrets supplied lists the values to supply", MISUSED) from refusal
    return Output({"files": [str(path) for path in written], "next": _NEXT[form]})


def list_secrets(
    operator: Operator, target: TargetName = Target.production, servers: ServersName = Servers.operators
) -> Output:
    """List every secret of a cluster: entry of the store, form, purpose, readers, and who issues it."""
    cluster = Cluster(target, servers)
    lines = [
        {
            "name": row.name,
            "entries": list(row.entries),
            "property": row.key,
            "purpose": row.purpose,
            "readers": list(row.readers),
            "source": row.issued_by if cluster.is_supplied(row) else f"made: {row.form}",
            "required": not row.is_optional,
        }
        for row in cluster.rows()
    ]
    return Output(lines, ("name", "entries", "purpose", "readers", "source"))


def show_supplied(
    operator: Operator, target: TargetName = Target.production, servers: ServersName = Servers.operators
) -> Output:
    """Print a file to fill in: the values that a person must supply, and where to get each."""
    cluster = Cluster(target, servers)
    needed = [row for row in cluster.rows() if cluster.is_supplied(row)]
    lines = [
        {"name": row.name, "purpose": row.purpose, "issuedBy": row.issued_by, "required": not row.is_optional}
        for row in needed
    ]
    texts = [
        text
        for row in needed
        for text in (
            f"# {row.purpose} ({'may be empty' if row.is_optional else 'required'}): {row.issued_by}",
            f"{row.name}=",
        )
    ]
    return Output(lines, lines=tuple(texts))
