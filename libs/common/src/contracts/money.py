"""Money in events: integers in kobo, bounded and compared with each other where they are decoded."""

from typing import Annotated, ClassVar, Final, NamedTuple

import msgspec

# The largest purchase that checkout accepts is 100 cart lines of 99 pieces at the highest price of a product (10^9
# kobo), each line with a delivery fee: 9.9 * 10^12 kobo and 100 fees. No valid event has more; a forged or corrupted
# one would.
AMOUNT_MINOR_MAX: Final = 10_000_000_000_000

MinorAmount = Annotated[int, msgspec.Meta(ge=0, le=AMOUNT_MINOR_MAX)]

# A running total over many movements; a correction may make it negative. Ten thousand of the largest orders, within 64
# bits.
TOTAL_MINOR_MAX: Final = 10_000 * AMOUNT_MINOR_MAX
MinorTotal = Annotated[int, msgspec.Meta(ge=-TOTAL_MINOR_MAX, le=TOTAL_MINOR_MAX)]


class AmountRule(NamedTuple):
    """`whole` is at least the sum of `parts`; with `is_sum` it is that sum. An absent amount counts as 0."""

    whole: str
    parts: tuple[str, ...]
    is_sum: bool = False


class CheckedAmounts(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A struct whose amounts agree with each other, at its construction and at its decoding.

    msgspec turns the ValueError into a ValidationError, so that a message with such amounts is a permanent fault.
    """

    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = ()

    def __post_init__(self) -> None:
        """Raise ValueError."""
        for rule in self.AMOUNT_RULES:
            whole_minor: int | None = getattr(self, rule.whole)
            if whole_minor is None:
                continue
            parts_minor: int = sum(getattr(self, part) or 0 for part in rule.parts)
            if parts_minor > whole_minor or (rule.is_sum and parts_minor < whole_minor):
                relation = "the sum of" if rule.is_sum else "at least"
                raise ValueError(f"{rule.whole} {whole_minor} is not {relation} {' + '.join(rule.parts)} {parts_minor}")
