"""The exceptions by which a handler classifies a failed message."""


class PermanentFault(Exception):
    """No retry can succeed, as with an invalid schema: the message becomes a dead letter at once."""


class NotYetKnown(Exception):
    """A fact that the message depends on has not been received yet; the retry ladder delivers the message again."""


class UnderWay(Exception):
    """The same work may be under way in another process: the last attempt is repeated until its result is known."""
