"""The mailbox of an address: one mailbox is one user, who is rewarded once (contract section 10).

**One mailbox earns one reward.** Spellings of one mailbox are one user: `+tags`, dots at Gmail (and
`googlemail.com`), dashes at Yahoo, `.`, `-`, `_` at Proton, and the several domains of Apple and Proton. In doubt two
addresses are one: a reward can be paid later. An unusual address (quoted, with a comment, in another script) earns
nothing. The referral is evaluated in the transaction that creates the profile, under a lock of user and mailbox.
Payments posts it under a key of the user, so a redelivered event has no effect. A reward of 0 is applied and counted,
and posts nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Provider:
    """A mail provider's rules: its canonical domain, ignored characters, and the mark of a tag.

    `tag_mark` starts a tag in addition to `+`, which every provider ignores.
    """

    domain: str
    ignored: str = ""
    tag_mark: str = "+"


_GOOGLE: Final = Provider("gmail.com", ignored=".")
_APPLE: Final = Provider("icloud.com")
_PROTON: Final = Provider("proton.me", ignored=".-_")
_PROVIDERS: Final[Mapping[str, Provider]] = {
    "gmail.com": _GOOGLE,
    "googlemail.com": _GOOGLE,
    "icloud.com": _APPLE,
    "me.com": _APPLE,
    "mac.com": _APPLE,
    "proton.me": _PROTON,
    "protonmail.com": _PROTON,
    "protonmail.ch": _PROTON,
    "pm.me": _PROTON,
}
# Yahoo names contain no dash: it starts a tag.
_YAHOO: Final = frozenset({"ymail.com", "rocketmail.com", "myyahoo.com"})


def mailbox_of(address: str) -> str:
    """Return the canonical spelling of a normal address's mailbox, without tag and ignored characters.

    In doubt two addresses are one mailbox: a reward can be paid later, but not reversed.
    """
    local, _, domain = address.rpartition("@")
    provider = _provider_of(domain)
    name = local
    for mark in ("+", provider.tag_mark):
        name = name.partition(mark)[0] or name
    for character in provider.ignored:
        name = name.replace(character, "")
    return f"{name or local}@{provider.domain}"


def _provider_of(domain: str) -> Provider:
    known = _PROVIDERS.get(domain)
    if known is not None:
        return known
    is_yahoo = domain in _YAHOO or domain.startswith("yahoo.")
    return Provider(domain, tag_mark="-") if is_yahoo else Provider(domain)
