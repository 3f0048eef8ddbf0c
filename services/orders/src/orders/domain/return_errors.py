"""The errors of return requests, named by their condition (contract section 6.5)."""

from collections.abc import Sequence

from common.primitives.problems import Conflict, Forbidden, InvalidParam, ValidationFailed


class BuyerCannotDecide(Forbidden):
    detail = "A buyer cannot decide on their own return request, under any role."


class UnknownItem(ValidationFailed):
    detail = "An item of this request is not in the order."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[InvalidParam(f"items.{position}.itemId", "is not in the order") for position in positions]
        )


class RepeatedItem(ValidationFailed):
    detail = "A return request lists each item once. Add up its quantities."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("items", "lists an item twice")])


class QuantityExceedsOrder(ValidationFailed):
    detail = "The returned quantity exceeds the ordered quantity."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[
                InvalidParam(f"items.{position}.quantity", "exceeds the ordered quantity") for position in positions
            ]
        )


class QuantityExceedsRemainder(Conflict):
    """Other requests, open or approved, cover the rest."""

    detail = "The returned quantity exceeds what other return requests leave."

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(
            invalid_params=[
                InvalidParam(f"items.{position}.quantity", "exceeds the remaining quantity") for position in positions
            ]
        )


class ReturnWindowClosed(Conflict):
    detail = "The return window of this order has closed."
