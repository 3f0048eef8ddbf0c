"""Check the token with which cert-manager proves the ownership of our names."""

import os
from typing import Annotated

import httpx
import typer

from operations.campusctl.exits import MISUSED, NOT_REACHABLE, Refused
from operations.campusctl.registering import Operator, command
from operations.campusctl.showing import Output
from operations.rotation.cluster import SECRETS_OF, key_of, read_secrets
from operations.rotation.dns_token import API_URL, TokenRejected, check_token


def register(group: typer.Typer) -> None:
    command(
        group,
        "check-dns",
        "NEW_SECRET=… campusctl rotation check-dns --zone campus.example",
        "campusctl rotation check-dns --zone campus.example --kubernetes",
        on_cluster=True,
    )(check_dns)


def check_dns(
    operator: Operator,
    zone: Annotated[str, typer.Option(help="The zone of our names at the DNS provider.")],
    api: Annotated[
        str, typer.Option("--api", envvar="DNS_API_URL", help="The provider's API.", metavar="URL")
    ] = API_URL,
) -> Output:
    """Prove a token for DNS records: verify it, write a TXT record as for a certificate, and delete it.

    The token is NEW_SECRET, or with --kubernetes that of the cluster's Secret. Exit code 1: the provider rejects it.
    """
    try:
        return Output({"valid": True, "record": check_token(api.rstrip("/"), zone, _token(operator))})
    except TokenRejected as error:
        raise Refused(str(error), "docs/runbooks/rotate-dns-token.md has the rights that it needs") from error
    except httpx.TransportError as error:
        raise Refused(f"{api} is not reachable: {error or type(error).__name__}", exit_code=NOT_REACHABLE) from error


def _token(operator: Operator) -> str:
    if operator.cluster is None:
        if not (given := os.environ.get("NEW_SECRET")):
            raise Refused("There is no token to check.", "Set NEW_SECRET, or --kubernetes for the cluster's", MISUSED)
        return given
    [name] = SECRETS_OF["DNS_TOKEN"]
    found = read_secrets(operator.cluster, [name])
    token = found[name].values.get(key_of("DNS_TOKEN"), "") if name in found else ""
    if not token:
        raise Refused(f"The namespace {operator.cluster.namespace} has no Secret {name} with a token.")
    return token
