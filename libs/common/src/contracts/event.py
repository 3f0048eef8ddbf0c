"""The base of events: an immutable fact with a literal type; its first field is the id of its aggregate."""

from typing import ClassVar

from contracts.money import CheckedAmounts


class Event(CheckedAmounts, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A fact that a service publishes. Times are ISO 8601 UTC texts with milliseconds; money is kobo."""

    TYPE: ClassVar[str]

    @classmethod
    def publisher(cls) -> str:
        """Return the service that publishes the event: the first word of the type."""
        return cls.TYPE.split(".", 1)[0]

    @property
    def subject(self) -> str:
        """The id of the aggregate: the first field of the contract's `data` column."""
        return str(getattr(self, self.__struct_fields__[0]))
