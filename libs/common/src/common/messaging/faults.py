"""The exceptions by which a handler classifies a failed message."""


class PermanentFault(Exception):
    """No retry can succeed, as with an invalid schema: the message becomes a dead letter at once."""


class NotYetKnown(Exception):
    """A fact that the message depends on has not been received yet; the retry ladder delivers the message again."""
