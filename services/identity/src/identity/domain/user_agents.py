"""What a person is told about the program of a session."""

from typing import Final

# Browsers say less; what is longer is no name of a program.
CHARACTERS_MAX: Final = 200


def printable_user_agent(user_agent: str | None) -> str | None:
    """The `User-Agent` as it may be kept and shown: printable, on one line, bounded; None when nothing is left."""
    printable = "".join(character if character.isprintable() else " " for character in user_agent or "")
    return " ".join(printable.split())[:CHARACTERS_MAX].rstrip() or None
