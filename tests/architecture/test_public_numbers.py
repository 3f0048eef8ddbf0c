"""A person sees numbers, never an id or a part of one (contract section 1.7)."""

import ast
import re

import pytest

from common.primitives.public_numbers import ALPHABET, NumberKind
from contracts import notifications, orders, payments, payouts
from contracts.event import Event
from contracts.numbers import OrderNumber, PayoutNumber, PurchaseNumber, TicketNumber
from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES
from notifications.deliveries.domain.templates import IDS
from tests.architecture.sources import ROOT, product_files

TEMPLATES = ROOT / "services/notifications/src/notifications/deliveries/templates"
# Events whose subject is not an order, payout or ticket; `order_id` in them names no order of a person's message.
UNNUMBERED = {payments.VendorStatementIssued, payouts.BankDetailsChanged, payouts.BankDetailsQuarantined}


def events_of(module) -> list[type[Event]]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Event) and "TYPE" in vars(value)
    ]


@pytest.mark.parametrize(
    ("module", "subject"),
    [(orders, "order_id"), (payments, "order_id"), (payouts, "payout_id"), (notifications, "ticket_id")],
)
def test_every_event_of_an_order_payout_or_ticket_has_its_number(module, subject: str) -> None:
    about = [event for event in events_of(module) if subject in event.__struct_fields__ and event not in UNNUMBERED]
    assert about
    assert [event.TYPE for event in about if "number" not in event.__struct_fields__] == []


def test_no_message_template_names_an_id() -> None:
    named = {
        (path.name, name)
        for path in [*TEMPLATES.glob("*.txt"), *TEMPLATES.glob("*.html")]
        for expression in re.findall(r"\{[{%].*?[%}]\}", path.read_text(encoding="utf-8"))
        for name in re.findall(r"\b[a-z]\w*(?:Id|_id)\b|\bid\b", expression)
    }
    assert named == set()
    assert {name for template in APPROVED_TEMPLATES.values() for name in template.parameters} & IDS == set()


def test_no_service_shortens_an_id() -> None:
    """The fault of a second order number: the last eight digits of the id in every message."""
    cut = {
        path.relative_to(ROOT).as_posix()
        for path in product_files()
        if "services/" in str(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and re.search(r"(?:_id|Id|\bid|identifier)\b", ast.unparse(node.value))
    }
    # The folder of an image's file.
    assert cut == {"services/orders/src/orders/domain/images.py"}


def test_the_patterns_of_events_have_the_prefixes_and_the_alphabet_of_the_numbers() -> None:
    annotated = {
        NumberKind.ORDER: OrderNumber,
        NumberKind.PAYOUT: PayoutNumber,
        NumberKind.TICKET: TicketNumber,
        NumberKind.PURCHASE: PurchaseNumber,
    }
    for kind, number in annotated.items():
        pattern = number.__metadata__[0].pattern
        assert re.match(pattern, f"{kind}-{ALPHABET[:4]}-{ALPHABET[-4:]}")
        symbols = [chr(code) for code in range(128) if re.match(pattern, f"{kind}-{chr(code) * 4}-0000")]
        assert "".join(symbols) == ALPHABET
