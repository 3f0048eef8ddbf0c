"""The subject of each message (contract section 12.2)."""

from typing import get_args
from uuid import UUID, uuid4

import pytest

from notifications.deliveries.domain.subjects import KIND_BY_TEMPLATE, Subject, SubjectKind, subject_of
from notifications.deliveries.domain.templates import CATALOG
from testkit.cases import for_each

ORDER, PAYOUT, TICKET, PRODUCT, CONVERSATION, NAMED, USER = (uuid4() for _ in range(7))
PARAMETERS = {
    "orderId": str(ORDER),
    "payoutId": str(PAYOUT),
    "ticketId": str(TICKET),
    "productId": str(PRODUCT),
    "conversationId": str(CONVERSATION),
}


def test_every_template_has_a_kind() -> None:
    assert set(KIND_BY_TEMPLATE) == set(CATALOG)
    assert set(KIND_BY_TEMPLATE.values()) <= set(get_args(SubjectKind))


@for_each("template", sorted(CATALOG))
def test_every_subject_is_named_by_the_parameters_of_its_template(template: str) -> None:
    given = {name: text for name, text in PARAMETERS.items() if name in CATALOG[template].parameters}
    subject = subject_of(template, given, USER, NAMED)
    own = {
        "order": ORDER,
        "dispute": ORDER,
        "payout": PAYOUT,
        "ticket": TICKET,
        "product": PRODUCT,
        "conversation": CONVERSATION,
        "account": USER,
    }
    kind = KIND_BY_TEMPLATE[template]
    assert subject == Subject(kind, own.get(kind, NAMED), ORDER if "orderId" in given else None)


@pytest.mark.parametrize(
    ("template", "parameters", "subject"),
    [
        ("return_request_update", {"orderId": str(ORDER)}, Subject("order", ORDER, ORDER)),
        ("payment_failed", {"orderId": str(ORDER)}, Subject("order", ORDER, ORDER)),
        ("vendor_application_decided", {}, Subject("account", USER)),
        ("refund_settled", {}, Subject("account", USER)),
        ("order_dispatched", {"orderId": "order no. 5"}, Subject("account", USER)),
    ],
)
def test_without_its_own_id_the_subject_is_the_order_or_the_account(
    template: str, parameters: dict[str, str], subject: Subject
) -> None:
    assert subject_of(template, parameters, USER) == subject


def test_a_message_without_a_recipient_has_no_subject() -> None:
    assert subject_of("account_erased", {}, None) is None


def test_the_public_form_has_an_order_only_where_there_is_one() -> None:
    assert Subject("ticket", UUID(int=1)).content == {"kind": "ticket", "id": str(UUID(int=1))}
    assert Subject("order", ORDER, ORDER).content == {"kind": "order", "id": str(ORDER), "orderId": str(ORDER)}
