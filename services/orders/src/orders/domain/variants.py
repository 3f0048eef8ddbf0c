"""The options and the variants of a product (contract section 11.6). Prices in kobo."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from common.primitives.ids import new_id
from orders.domain.errors import InvalidVariants

OPTIONS_MAX: Final = 3
VARIANTS_MAX: Final = 100
# Each value is of a variant.
OPTION_VALUES_MAX: Final = VARIANTS_MAX
OPTION_CHARACTERS_MAX: Final = 40
SKU_CHARACTERS_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of the buyer, such as a size, and its values in display order."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of a product; `option_values` are pairs of option and value, in the sequence of the options."""

    option_values: tuple[tuple[str, str], ...]
    price_minor: int
    stock: int
    sku: str | None = None
    image_id: UUID | None = None
    active: bool = True
    id: UUID = field(default_factory=new_id)

    @property
    def label(self) -> str:
        return ", ".join(value for _, value in self.option_values)


@dataclass(frozen=True, slots=True)
class RequestedVariant:
    """A variant as its vendor sends it; one that stays has its id."""

    id: UUID | None
    sku: str | None
    values: Mapping[str, str]
    price_minor: int
    stock: int
    image_id: UUID | None
    active: bool


def named(product_name: str, option_values: Sequence[Sequence[str]]) -> str:
    """Return the name of a variant for people, such as `Shirt (Red, M)`."""
    return f"{product_name} ({', '.join(value for _, value in option_values)})"


def checked_variants(
    options: Sequence[Option],
    requested: Sequence[RequestedVariant],
    *,
    images: Collection[str] = (),
    own_ids: Collection[UUID] = (),
) -> list[Variant]:
    """Return the variants in display order, with ids for new ones.

    `images` and `own_ids` are the images and the variants that the product has. Raises InvalidVariants (422), which
    names every fault.
    """
    faults = dict(_faults_of_options(options))
    if bool(options) != bool(requested):
        faults["variants" if options else "options"] = "is required: options and variants come together"
    elif requested and not any(variant.active for variant in requested):
        faults["variants"] = "needs an active variant"
    elif len(requested) > VARIANTS_MAX:
        faults["variants"] = f"has more than {VARIANTS_MAX}"
    listed = {option.name: option.values for option in options}
    seen: dict[str, set[object]] = {"id": set(), "sku": set(), "values": set()}
    variants = []
    for position, variant in enumerate(requested):
        pairs = tuple((name, variant.values.get(name, "")) for name in listed)
        found = {
            "id": variant.id is not None and variant.id not in own_ids and "is no variant of this product",
            "imageId": variant.image_id is not None
            and str(variant.image_id) not in images
            and "is no image of this product",
            "values": (variant.values.keys() != listed.keys() and "needs one value for each option, and no other")
            or (
                any(value not in listed[name] for name, value in pairs) and "has a value that its option does not list"
            ),
        }
        for name, value in (("id", variant.id), ("sku", variant.sku), ("values", pairs)):
            if value is not None and value in seen[name]:
                found[name] = found.get(name) or "repeats that of another variant"
            seen[name].add(value)
        faults |= {f"variants.{position}.{name}": reason for name, reason in found.items() if reason}
        variants.append(
            Variant(
                pairs,
                variant.price_minor,
                variant.stock,
                variant.sku,
                variant.image_id,
                variant.active,
                variant.id or new_id(),
            )
        )
    if faults:
        raise InvalidVariants(faults)
    return variants


def _faults_of_options(options: Sequence[Option]) -> list[tuple[str, str]]:
    names = [option.name.casefold() for option in options]
    faults = [
        (f"options.{position}.name", "repeats another option")
        for position, name in enumerate(names)
        if name in names[:position]
    ]
    for position, option in enumerate(options):
        if len({value.casefold() for value in option.values}) < len(option.values):
            faults.append((f"options.{position}.values", "lists a value twice"))
    return faults
