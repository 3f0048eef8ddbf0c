"""One mailbox is one user in every spelling (contract section 10: no reward for one's own token)."""

import pytest

from identity.domain.mailboxes import mailbox_of


@pytest.mark.parametrize(
    ("address", "mailbox"),
    [
        ("tola+shop@unilag.edu.ng", "tola@unilag.edu.ng"),
        ("t.o.l.a@unilag.edu.ng", "t.o.l.a@unilag.edu.ng"),
        ("to-la@unilag.edu.ng", "to-la@unilag.edu.ng"),
        ("+x@unilag.edu.ng", "+x@unilag.edu.ng"),
        ("t.o.l.a+x@googlemail.com", "tola@gmail.com"),
        ("tola@gmail.com", "tola@gmail.com"),
        ("tola+a+b@outlook.com", "tola@outlook.com"),
        ("to.la@outlook.com", "to.la@outlook.com"),
        ("tola@hotmail.com", "tola@hotmail.com"),
        ("tola+x@me.com", "tola@icloud.com"),
        ("tola@mac.com", "tola@icloud.com"),
        ("to.l-a_+x@pm.me", "tola@proton.me"),
        ("tola@protonmail.com", "tola@proton.me"),
        ("tola-shop@yahoo.co.uk", "tola@yahoo.co.uk"),
        ("tola-shop@ymail.com", "tola@ymail.com"),
        ("-shop@yahoo.com", "-shop@yahoo.com"),
        (".+x@gmail.com", ".+x@gmail.com"),
    ],
)
def test_all_spellings_of_a_mailbox_are_one(address: str, mailbox: str) -> None:
    assert mailbox_of(address) == mailbox


def test_the_one_spelling_of_a_mailbox_stays_as_it_is() -> None:
    for address in ("a.b+c@gmail.com", "a-b@yahoo.com", "a.b-c_d+e@pm.me", "a+b@me.com", "a+b@ui.edu.ng"):
        assert mailbox_of(mailbox_of(address)) == mailbox_of(address)
