"""Ceilings of mails and texts: each costs money or the attention of its recipient (contract section 10.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

import phonenumbers

from common.primitives.shared_addresses import SharedAddresses
from identity.domain.mailboxes import mailbox_of

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
# A user needs no more codes than these. Each source has its own, so that requests of one stop no other's.
MAILS_OF_SOURCE_IN_HOUR_MAX: Final = 5
MAILS_OF_SOURCE_IN_DAY_MAX: Final = 15
# Over all sources: more would flood the mailbox, and allow more guesses.
MAILS_IN_HOUR_MAX: Final = 30
MAILS_IN_DAY_MAX: Final = 60
PREFIX_DIGITS: Final = 3

# The kind of a request. Sign-ups of known and unknown addresses count alike.
CountedAs = Literal["sign_in", "password_reset", "sign_up"]


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many messages of a subject in a window. Without `is_counted` the request only needs room."""

    subject: tuple[str, ...]
    window: timedelta
    messages_max: int
    is_counted: bool = True


def mail_budgets(counted_as: CountedAs, email: str, source: str) -> list[Budget]:
    """Return the budgets of a mail. A mailbox counts once, whatever follows `+`."""
    mailbox = mailbox_of(email)
    own, of_all = ("mail", counted_as, mailbox, source), ("mail", counted_as, mailbox)
    return [
        Budget(own, HOUR, MAILS_OF_SOURCE_IN_HOUR_MAX),
        Budget(own, DAY, MAILS_OF_SOURCE_IN_DAY_MAX),
        Budget(of_all, HOUR, MAILS_IN_HOUR_MAX),
        Budget(of_all, DAY, MAILS_IN_DAY_MAX),
    ]


@dataclass(frozen=True, slots=True)
class TextPolicy:
    """The numbers that texts are sent to, and the budgets of texts. `address_per_hour` is multiplied for shared
    addresses.
    """

    countries: frozenset[str]
    account_per_day: int
    number_per_hour: int
    number_per_day: int
    prefix_per_hour: int
    address_per_hour: int
    total_per_hour: int
    shared_addresses: SharedAddresses

    def accepts(self, phone: str) -> bool:
        """Return whether an E.164 number is a mobile number of a country that texts are sent to.

        Premium, satellite, landline and foreign numbers cost much, and pay those who have them called.
        """
        number = phonenumbers.parse(phone)
        is_mobile = phonenumbers.number_type(number) in (
            phonenumbers.PhoneNumberType.MOBILE,
            # The plans of some countries do not distinguish the two.
            phonenumbers.PhoneNumberType.FIXED_LINE_OR_MOBILE,
        )
        return is_mobile and phonenumbers.region_code_for_number(number) in self.countries

    def budgets(self, phone: str, source: str, account_id: UUID | None, *, is_sent: bool) -> Sequence[Budget]:
        """Return the budgets of a text. `account_id` is the signed-in user who requests it.

        The request counts for number, source and account, known or not. Only texts that are sent count in the budgets
        that all users share: requests for unknown numbers would use these up at no cost.
        """
        of_address = self.shared_addresses.ceiling(self.address_per_hour, source)
        of_account = (Budget(("account", str(account_id)), DAY, self.account_per_day),) if account_id else ()
        return [
            *of_account,
            Budget(("number", phone), HOUR, self.number_per_hour),
            Budget(("number", phone), DAY, self.number_per_day),
            Budget(("address", source), HOUR, of_address),
            Budget(("prefix", _prefix_of(phone)), HOUR, self.prefix_per_hour, is_counted=is_sent),
            Budget(("total",), HOUR, self.total_per_hour, is_counted=is_sent),
        ]


def _prefix_of(phone: str) -> str:
    """Return the country code and the first three digits of the national number."""
    number = phonenumbers.parse(phone)
    return f"+{number.country_code}{phonenumbers.national_significant_number(number)[:PREFIX_DIGITS]}"
