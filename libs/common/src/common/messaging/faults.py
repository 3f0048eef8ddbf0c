"""What a handler says of a message by failing."""


class PermanentFault(Exception):
    """No retry can mend this message (a broken schema, say): it goes to the dead letters at once."""


class NotYetKnown(Exception):
    """What the message speaks of has not arrived: nothing is wrong, the retry ladder brings the message again."""
