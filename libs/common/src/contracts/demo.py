"""The fixed ids of the demo data, so that each service loads its part on its own (architecture section 6)."""

from typing import Final, NamedTuple
from uuid import UUID


class DemoUser(NamedTuple):
    """A demo account; `name` is that of its TOTP secret in secrets.env."""

    id: UUID
    name: str
    email: str
    full_name: str
    phone: str
    roles: tuple[str, ...]
    campus_id: UUID | None = None
    vendor_id: UUID | None = None
    # The shop whose orders the user packs.
    packing_vendor_id: UUID | None = None


class DemoVendor(NamedTuple):
    """A demo vendor, whose bank account has the same legal name in the sandbox."""

    id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID


class DemoCampus(NamedTuple):
    id: UUID
    name: str
    domain: str


class DemoHub(NamedTuple):
    id: UUID
    campus_id: UUID
    name: str
    address: str
    delivery_fee_minor: int


def _id(kind: int, number: int) -> UUID:
    """Return a well-formed UUIDv7 of the year 2024, so that demo rows sort before real ones."""
    return UUID(f"018cc251-f400-7{kind:03x}-8000-{number:012x}")


LAGOS: Final = DemoCampus(_id(1, 1), "University of Lagos", "unilag.edu.ng")
IBADAN: Final = DemoCampus(_id(1, 2), "University of Ibadan", "ui.edu.ng")
NSUKKA: Final = DemoCampus(_id(1, 3), "University of Nigeria", "unn.edu.ng")
CAMPUSES: Final = (LAGOS, IBADAN, NSUKKA)

AKOKA_HUB: Final = DemoHub(_id(2, 1), LAGOS.id, "Akoka Main Gate", "Main Gate, Akoka", 0)
MOREMI_HUB: Final = DemoHub(_id(2, 2), LAGOS.id, "Moremi Hall", "Moremi Hall, Akoka", 30_000)
HUBS: Final = (AKOKA_HUB, MOREMI_HUB)

ADA: Final = DemoVendor(_id(3, 1), _id(4, 3), "Ada's Kitchen", "Ada Obi Ventures", LAGOS.id)
BOLA: Final = DemoVendor(_id(3, 2), _id(4, 4), "Bola Gadgets", "Bola Ade Stores", LAGOS.id)
VENDORS: Final = (ADA, BOLA)

USERS: Final = (
    DemoUser(_id(4, 1), "BUYER", "buyer@unilag.edu.ng", "Chidi Okafor", "+2348030000001", ("buyer",), LAGOS.id),
    DemoUser(_id(4, 2), "BUYER2", "buyer2@unilag.edu.ng", "Dami Bello", "+2348030000002", ("buyer",), LAGOS.id),
    DemoUser(
        _id(4, 3),
        "VENDOR",
        "vendor@unilag.edu.ng",
        "Ada Obi",
        "+2348030000003",
        ("buyer", "merchant"),
        LAGOS.id,
        ADA.id,
    ),
    DemoUser(
        _id(4, 4),
        "VENDOR2",
        "vendor2@unilag.edu.ng",
        "Bola Ade",
        "+2348030000004",
        ("buyer", "merchant"),
        LAGOS.id,
        BOLA.id,
    ),
    DemoUser(_id(4, 5), "HUB", "hub@campus.example", "Hauwa Sani", "+2348030000005", ("hub_agent",), LAGOS.id),
    DemoUser(_id(4, 6), "SUPPORT", "support@campus.example", "Sade Cole", "+2348030000006", ("support_agent",)),
    DemoUser(_id(4, 7), "CAMPUS", "campus@campus.example", "Kunle Ojo", "+2348030000007", ("campus_admin",), LAGOS.id),
    DemoUser(_id(4, 8), "MAKER", "maker@campus.example", "Musa Idris", "+2348030000008", ("finance_maker",)),
    DemoUser(_id(4, 9), "CHECKER", "checker@campus.example", "Chioma Eze", "+2348030000009", ("finance_checker",)),
    DemoUser(_id(4, 10), "OPS", "ops@campus.example", "Obi Nwosu", "+2348030000010", ("ops_oncall",)),
    DemoUser(_id(4, 11), "AUDITOR", "auditor@campus.example", "Aisha Lawal", "+2348030000011", ("auditor",)),
    DemoUser(_id(4, 12), "ADMIN", "admin@campus.example", "Femi Adeyemi", "+2348030000012", ("platform_admin",)),
    DemoUser(
        _id(4, 13),
        "PACKER",
        "packer@unilag.edu.ng",
        "Emeka Udo",
        "+2348030000013",
        ("buyer", "shop_packer"),
        LAGOS.id,
        packing_vendor_id=ADA.id,
    ),
)
