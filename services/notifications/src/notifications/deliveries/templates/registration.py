"""The approved templates at the messaging app: `python -m notifications message-templates export | push | status`.

`export` needs no settings. The others print one JSON document. Exit codes: 0 done; 1 the provider rejected something;
3 not reachable; 4 (`status`) not every template is approved.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from common.primitives.http_client import HttpClient
from common.primitives.json_records import JsonObject
from common.primitives.tls import client_tls
from notifications.deliveries.clients.message_templates import MessageTemplates
from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES, Registration, registration_of
from notifications.deliveries.domain.errors import AccountFault, ProviderRejected, ProviderUnavailable
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.templates.renderer import RECIPIENT_NAME, MessageRenderer
from notifications.deliveries.use_cases.templates.compare_templates import compare_templates
from notifications.deliveries.use_cases.templates.push_templates import push_templates

COMMAND: Final = "message-templates"
REJECTED: Final = 1
MISUSED: Final = 2
NOT_REACHABLE: Final = 3
NOT_APPROVED: Final = 4
_EXAMPLE_NAME: Final = "Chidi"
_TIMEOUT_SECONDS: Final = 20


@dataclass(frozen=True, slots=True)
class TemplateAccount:
    """The business account of the messaging app that owns the templates, from the settings."""

    api_url: str
    version: str
    business_account_id: str
    token: str
    language: str


def registrations(language: str) -> list[Registration]:
    """Return the payload that registers each template, with the values of its preview as examples."""
    renderer = MessageRenderer()
    return [registration_of(name, language, _example(renderer, name)) for name in APPROVED_TEMPLATES]


def _example(renderer: MessageRenderer, name: str) -> tuple[str, ...]:
    return renderer.message("messaging", name, {**example_of(name), RECIPIENT_NAME: _EXAMPLE_NAME}).parameters


def manage_templates(arguments: Sequence[str], read_account: Callable[[], TemplateAccount]) -> int:
    """Run the command; return its exit code. `read_account` reads the settings, which the export does not need."""
    parser = argparse.ArgumentParser(prog=f"python -m notifications {COMMAND}", description=__doc__)
    parser.add_argument("action", choices=("export", "push", "status"))
    parser.add_argument("--out", type=Path, help="the file of the export; the standard output without it")
    parser.add_argument("--language", default="en", help="language code of the export (en)")
    given = parser.parse_args(arguments)
    if given.action == "export":
        return _export(given.language, given.out)
    account = read_account()
    if not account.api_url:
        sys.stderr.write("MESSAGING_API_URL is empty: the messaging app is off; set it\n")
        return MISUSED
    try:
        return asyncio.run(_call(account, given.action))
    except (AccountFault, ProviderRejected) as error:
        sys.stderr.write(f"the messaging app rejects the call: {error.reason}; check MESSAGING_API_TOKEN\n")
        return REJECTED
    except ProviderUnavailable as error:
        sys.stderr.write(f"the messaging app is not reachable: {error.reason}; try again\n")
        return NOT_REACHABLE


def _export(language: str, out: Path | None) -> int:
    document = json.dumps(registrations(language), indent=2, ensure_ascii=False) + "\n"
    if out is None:
        sys.stdout.write(document)
    else:
        out.write_text(document, encoding="utf-8")
        sys.stdout.write(f"{out}\n")
    return 0


async def _call(account: TemplateAccount, action: str) -> int:
    async with HttpClient(timeout=_TIMEOUT_SECONDS, verify=client_tls()) as http:
        templates = MessageTemplates(http, account.api_url, account.version, account.business_account_id, account.token)
        expected = registrations(account.language)
        if action == "push":
            pushed = await push_templates(templates, expected)
            _print([asdict(one) for one in pushed])
            return REJECTED if any(one.action == "rejected" for one in pushed) else 0
        states = await compare_templates(templates, expected)
        _print([asdict(one) for one in states])
        return 0 if all(one.is_approved for one in states) else NOT_APPROVED


def _print(rows: list[JsonObject]) -> None:
    sys.stdout.write(json.dumps(rows, ensure_ascii=True) + "\n")
