"""The choice of a media type by the Accept header (RFC 9110, 12.5.1)."""

from collections.abc import Sequence

from common.primitives.problems import Problem


class NotAcceptable(Problem):
    """None of the media types that the client accepts is offered."""

    status, code = 406, "VALIDATION_FAILED"

    def __init__(self, offered: Sequence[str]) -> None:
        super().__init__(f"This resource is offered as {' and '.join(offered)} only. Name one of them in Accept.")


def accepted_type(accept: str | None, offered: Sequence[str]) -> str:
    """Return the offered type with the highest weight, the first of equal ones; without a header the first.

    The most specific range decides the weight of a type. Raises NotAcceptable (406).
    """
    if not accept or not accept.strip():
        return offered[0]
    ranges = dict(map(_range_of, accept.split(",")))
    weights = {name: _weight(name, ranges) for name in offered}
    best = max(offered, key=weights.__getitem__)
    if weights[best] <= 0:
        raise NotAcceptable(offered)
    return best


def _range_of(text: str) -> tuple[str, float]:
    """Return a media range and its weight; parameters other than `q` are ignored, an invalid weight is 0."""
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    weight = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                weight = float(value)
            except ValueError:
                weight = 0.0
    return name, weight if 0 <= weight <= 1 else 0.0


def _weight(name: str, ranges: dict[str, float]) -> float:
    for candidate in (name, f"{name.partition('/')[0]}/*", "*/*"):
        if candidate in ranges:
            return ranges[candidate]
    return 0.0
