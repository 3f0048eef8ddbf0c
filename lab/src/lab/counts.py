"""Parse the counts of command lines: a run over zero items proves nothing."""

from argparse import ArgumentTypeError


def one_or_more(text: str) -> int:
    """Return a whole number of at least 1, for argparse.

    Raises:
        ArgumentTypeError: the text is not a whole number, or the number is below 1.
    """
    try:
        number = int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a whole number") from None
    if number < 1:
        raise ArgumentTypeError(f"{number} is less than 1")
    return number
