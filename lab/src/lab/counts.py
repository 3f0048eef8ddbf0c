"""How many, as the programs of this folder are told it: a run over none would start everything and prove nothing."""

from argparse import ArgumentTypeError


def one_or_more(text: str) -> int:
    """The number, for argparse.

    Raises:
        ArgumentTypeError: it is no whole number, or below 1.
    """
    try:
        number = int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no whole number") from None
    if number < 1:
        raise ArgumentTypeError(f"{number} is less than 1")
    return number
