"""The name of the client program of a session, shown to the user."""

from typing import Final

# Browsers send less than this.
CHARACTERS_MAX: Final = 200


def printable_user_agent(user_agent: str | None) -> str | None:
    """Return the `User-Agent` as one printable, bounded line; None when nothing remains."""
    printable = "".join(character if character.isprintable() else " " for character in user_agent or "")
    return " ".join(printable.split())[:CHARACTERS_MAX].rstrip() or None
