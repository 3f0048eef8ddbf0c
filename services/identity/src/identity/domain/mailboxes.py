"""Which mailbox stands behind an address: one mailbox is one person, who is rewarded once (contract section 10)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Provider:
    """What a mail provider is known to do with its addresses: one name for several domains, and what it does not read.

    `tag_mark` begins a tag beside the `+` that all of them, and most universities, leave out.
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
# Yahoo's names hold no dash: what stands behind one is a tag.
_YAHOO: Final = frozenset({"ymail.com", "rocketmail.com", "myyahoo.com"})


def mailbox_of(address: str) -> str:
    """The one spelling of a normal address's mailbox: without the tag, and without what its provider does not read.

    In doubt two addresses are one mailbox: a reward that is not paid can be paid later, one that was paid cannot be undone.
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
