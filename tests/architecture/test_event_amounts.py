"""Every amount of money in an event or work item is bounded where it is decoded, and agrees with the others
(decision 31).
"""

import importlib
import pkgutil
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

import contracts
from common.messaging.faults import PermanentFault
from common.messaging.messages import read_payload
from contracts.money import AMOUNT_MINOR_MAX, TOTAL_MINOR_MAX
from contracts.orders import DisputeResolved
from contracts.payments import ChargeQuarantined, EscrowReleased, ReleaseStatement, TransferEvent
from identity.consumers import WORK as IDENTITY_WORK
from identity.domain.campuses import DELIVERY_FEE_MINOR_MAX
from notifications.consumers import WORK as NOTIFICATIONS_WORK
from orders.domain.products import PRICE_MINOR_MAX
from orders.schemas.carts import SetCartItemRequest
from orders.use_cases.carts.set_cart_item import ITEMS_MAX
from payments.consumers import WORK as PAYMENTS_WORK
from payouts.consumers import WORK as PAYOUTS_WORK
from testkit.cases import for_each

WORK = (*IDENTITY_WORK, *NOTIFICATIONS_WORK, *PAYMENTS_WORK, *PAYOUTS_WORK)


def structs() -> list[type[msgspec.Struct]]:
    """All structs of messages in a fixed order: workers must collect the same tests."""
    modules = [
        importlib.import_module(f"contracts.{module.name}") for module in pkgutil.iter_modules(contracts.__path__)
    ]
    found = {
        member
        for module in modules
        for member in vars(module).values()
        if isinstance(member, type) and issubclass(member, msgspec.Struct)
    }
    return sorted(found | {item.payload for item in WORK}, key=lambda it: (it.__module__, it.__name__))


# Signed by payments: the sum of all movements of a vendor.
TOTALS = {(ReleaseStatement, "net_minor")}
AMOUNTS = [(it, field) for it in structs() for field in it.__struct_fields__ if field.endswith("_minor")]


# A refund and a release of one decision, a transfer beside its fee, and a quarantined charge beside what was to pay:
# neither is a part of the other.
INDEPENDENT = {
    DisputeResolved: {"refund_minor", "release_minor"},
    TransferEvent: {"amount_minor", "fee_minor"},
    ChargeQuarantined: {"amount_minor", "expected_minor"},
}
RULES = [(it, rule) for it in structs() for rule in getattr(it, "AMOUNT_RULES", ())]


def sample(kind: msgspec.inspect.Type) -> Any:
    """Return a value of the type, as JSON has it: 0 for each amount, the default or an example where there is one."""
    if isinstance(kind, msgspec.inspect.Metadata):
        return (kind.extra_json_schema or {}).get("examples", [sample(kind.type)])[0]
    if isinstance(kind, msgspec.inspect.StructType):
        return {field.encode_name: sample(field.type) for field in kind.fields if field.required}
    if isinstance(kind, msgspec.inspect.IntType):
        return 0
    if isinstance(kind, msgspec.inspect.LiteralType):
        return kind.values[0]
    if isinstance(kind, msgspec.inspect.UnionType):
        return sample(kind.types[0])
    return {
        msgspec.inspect.UUIDType: "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e",
        msgspec.inspect.BoolType: False,
        msgspec.inspect.StrType: "2026-01-01T00:00:00.000Z",
        msgspec.inspect.DateTimeType: "2026-01-01T00:00:00Z",
    }.get(type(kind), [])


def decoded(struct: type[msgspec.Struct], **amounts: int) -> Any:
    """Decode a message of the struct with these amounts, as a consumer does."""
    names = dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))
    body = sample(msgspec.inspect.type_info(struct)) | {names[name]: amount for name, amount in amounts.items()}
    return read_payload(msgspec.Raw(msgspec.json.encode(body)), struct)


def test_events_have_amounts() -> None:
    assert (EscrowReleased, "net_minor") in AMOUNTS


@for_each(("struct", "name"), AMOUNTS, ids=lambda it: getattr(it, "__name__", it))
def test_an_amount_is_between_zero_and_the_largest_order(struct, name) -> None:
    hint = get_type_hints(struct, include_extras=True)[name]
    kinds = get_args(hint) if type(None) in get_args(hint) else (hint,)
    decoded = [msgspec.inspect.type_info(kind) for kind in kinds]
    bounds = [(kind.ge, kind.le) for kind in decoded if isinstance(kind, msgspec.inspect.IntType)]
    expected = (-TOTAL_MINOR_MAX, TOTAL_MINOR_MAX) if (struct, name) in TOTALS else (0, AMOUNT_MINOR_MAX)
    assert bounds == [expected], f"{struct.__name__}.{name}: write MinorAmount (contracts.money)"


def test_the_largest_purchase_that_checkout_accepts_is_within_the_bound() -> None:
    """Each of its products may have a vendor and a delivery of its own."""
    quantity_max = next(
        constraint.le
        for constraint in SetCartItemRequest.model_fields["quantity"].metadata
        if hasattr(constraint, "le")
    )
    assert ITEMS_MAX * (quantity_max * PRICE_MINOR_MAX + DELIVERY_FEE_MINOR_MAX) <= AMOUNT_MINOR_MAX


@for_each(("struct", "name"), AMOUNTS, ids=lambda it: getattr(it, "__name__", it))
def test_an_impossible_amount_is_a_permanent_fault(struct, name) -> None:
    assert decoded(struct) is not None
    largest = TOTAL_MINOR_MAX if (struct, name) in TOTALS else AMOUNT_MINOR_MAX
    smallest = -TOTAL_MINOR_MAX if (struct, name) in TOTALS else 0
    for amount in (smallest - 1, largest + 1, 0.5, "1", True):
        with pytest.raises(PermanentFault):
            decoded(struct, **{name: amount})


@pytest.mark.parametrize(("struct", "rule"), RULES, ids=lambda it: getattr(it, "__name__", None))
def test_amounts_that_do_not_add_up_are_a_permanent_fault(struct, rule) -> None:
    parts = dict.fromkeys(rule.parts, 1)
    whole_minor = len(parts)
    assert getattr(decoded(struct, **parts, **{rule.whole: whole_minor}), rule.whole) == whole_minor
    wrong = [{**parts, rule.whole: whole_minor - 1}]
    if rule.is_sum:
        wrong.append({**parts, rule.whole: whole_minor + 1})
    for amounts in wrong:
        with pytest.raises(PermanentFault, match=rule.whole):
            decoded(struct, **amounts)


def test_the_amounts_of_one_struct_are_compared_with_each_other() -> None:
    for struct in structs():
        amounts = {name for it, name in AMOUNTS if it is struct and (it, name) not in TOTALS}
        rules = getattr(struct, "AMOUNT_RULES", ())
        compared = {name for rule in rules for name in (rule.whole, *rule.parts)}
        known = next((names for base, names in INDEPENDENT.items() if issubclass(struct, base)), set())
        assert len(amounts) < 2 or amounts - known <= compared, (
            f"{struct.__name__}: write an AmountRule (contracts.money)"
        )


def test_a_release_never_gives_more_than_its_gross_amount() -> None:
    with pytest.raises(PermanentFault, match="gross_minor 100 is not the sum"):
        decoded(EscrowReleased, gross_minor=100, net_minor=900)
