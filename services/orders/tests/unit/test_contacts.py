"""Short names, and the roles that see a contact."""

from dataclasses import dataclass
from uuid import UUID

import pytest

from common.auth.caller import Caller
from common.primitives.encryption import DecryptionFailed, Encryptor
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from orders.domain.contacts import CONTACT_STATES, UserContact, short_name, visible_contact
from orders.domain.transitions import STATES
from orders.store.contacts import ContactEncryption

BUYER, VENDOR, CAMPUS, HUB = new_id(), new_id(), new_id(), new_id()


@dataclass(frozen=True)
class Placed:
    status: str
    buyer_id: UUID = BUYER
    vendor_id: UUID = VENDOR
    campus_id: UUID = CAMPUS
    hub_id: UUID = HUB


def caller(*roles, user_id=None, **claims):
    return Caller(user_id=user_id or new_id(), roles=frozenset(roles), permissions=permissions_of(roles), **claims)


@pytest.mark.parametrize(
    ("full_name", "short"),
    [
        ("Ada Obi", "Ada O."),
        ("  Ada  Ngozi   obi ", "Ada O."),
        ("Ada", "Ada"),
        ("Ada O\u0323bi", "Ada \u1ecc."),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_a_short_name_is_the_first_name_and_an_initial(full_name: str | None, short: str | None) -> None:
    assert short_name(full_name) == short


@pytest.mark.parametrize("status", STATES)
def test_each_caller_sees_the_contact_of_the_other_side_in_three_states(status: str) -> None:
    order = Placed(status)
    live, is_disputed = status in CONTACT_STATES, status == "disputed"
    seen = {
        "buyer": visible_contact(caller("buyer", user_id=BUYER), order),
        "vendor": visible_contact(caller("buyer", "merchant", vendor_id=VENDOR), order),
        "hub agent": visible_contact(caller("hub_agent", hub_id=HUB), order),
        "support": visible_contact(caller("support_agent"), order),
        "auditor": visible_contact(caller("auditor"), order),
        "finance": visible_contact(caller("finance_maker"), order),
    }
    assert seen == {
        "buyer": "vendor" if live else None,
        "vendor": "buyer" if live else None,
        "hub agent": "buyer" if live else None,
        "support": "buyer" if is_disputed else None,
        "auditor": "buyer" if is_disputed else None,
        "finance": None,
    }
    outsiders = [
        caller("buyer"),
        caller("merchant", vendor_id=new_id()),
        caller("hub_agent", hub_id=new_id(), campus_id=CAMPUS),
        caller("campus_admin", campus_id=CAMPUS),
        caller("ops_oncall"),
        caller("platform_admin"),
    ]
    assert {visible_contact(one, order) for one in outsiders} == {None}


def test_a_contact_opens_for_its_own_user_only() -> None:
    contacts = ContactEncryption(Encryptor("orders: contacts", "a key of sixteen characters"))
    user_id, contact = new_id(), UserContact("Ada Obi", "+2348030000000")
    encrypted = contacts.encrypt(user_id, contact)
    assert "Ada" not in encrypted
    assert (
        contacts.decrypt(user_id, encrypted) == contacts.decrypt(user_id, contacts.renew(user_id, encrypted)) == contact
    )
    with pytest.raises(DecryptionFailed):
        contacts.decrypt(new_id(), encrypted)
    assert (contacts.encrypt(user_id, UserContact(None, None)), contacts.decrypt(user_id, "")) == ("", None)
