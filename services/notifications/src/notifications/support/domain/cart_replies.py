"""Replies to a cart of the messaging app, with a link that is added at the send: tickets mask its digits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

CartReply = Literal["purchase_draft", "sign_up"]
TEXTS: Final[Mapping[CartReply, str]] = {
    "purchase_draft": "We received your cart. Nothing is ordered yet. Review it and pay here:",
    "sign_up": "We received your cart, but this number is not proven by an account. Sign up, prove the number, and "
    "send the cart again:",
}


@dataclass(frozen=True, slots=True)
class CartLinks:
    """The addresses of drafts and of the sign-up."""

    drafts: str
    sign_up: str

    def linked(self, text: str, kind: str, message_id: UUID) -> str:
        """Return the text of a reply with its link; other texts as they are. A draft has the id of its reply."""
        links = {"purchase_draft": f"{self.drafts}/{message_id}", "sign_up": self.sign_up}
        return f"{text} {links[kind]}" if kind in links else text


def cart_links(storefront_url: str, base_url: str) -> CartLinks:
    """Return the links to the storefront's pages; without a storefront to the API, and to the origin of the API."""
    if storefront_url:
        return CartLinks(f"{storefront_url.rstrip('/')}/purchase-drafts", f"{storefront_url.rstrip('/')}/sign-up")
    return CartLinks(f"{base_url}/api/purchase-drafts", f"{base_url}/sign-up")
