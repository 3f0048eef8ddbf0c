"""Support tickets.

**A customer's message** continues the newest open ticket of the user with that number (E.164), else a ticket that was
closed within seven days, which reopens, else it opens one. A reaction, a deleted message and another number open
none. Messages of one number are serialized. A number belongs to the user who has confirmed it (`phoneConfirmed` in
identity's events; contract section 10.1). An unconfirmed number has tickets without a user, which become the user's
with the next message after the confirmation. Claiming a number shows nothing of its older tickets. Each new ticket
publishes `notifications.ticket_opened.v1`.

**Transitions** (`domain/tickets.py`): `open` waits for staff, `pending` for the customer. A customer's message
reopens a closed ticket within seven days; later it is 409. Staff cannot write to a closed ticket. The owner of a
ticket is its customer, even if staff. `unread` counts the unread messages of the reader's side. An open ticket
accepts at most twenty images. An `orderId` must be an order that the caller bought or sells; unknown and foreign ones
are the same 422, after 1.5 s for a late event.

**A reply of staff** is announced by mail, push and feed without its text. Where the customer wrote in the messaging
app it is sent there as text within 24 hours of their last message, checked at the send, and later as the approved
template. Preferences and quiet hours do not delay it there. Its recipient is the number that wrote, which is stored
encrypted; staff see it masked.

**No ticket shows a run of digits.** In every subject and text four or more digits with anything except letters
between them become `••••`, and so do two or more in a text without letters (`domain/ticket_texts.py`, decision 35).
No text is compared with a PIN, so responses reveal nothing about one.

**A note** is from staff to staff. No customer and no vendor sees it, nor does a member of staff who is the ticket's
customer: row security refuses it. It is no part of the export of personal data, and erasure deletes it.

**Erasure** closes a user's tickets, empties subjects, texts, numbers and webhook bodies, and schedules the deletion
of images (`common.media.cleanup`); an unattached image is deleted after a day. The empty tickets stay. A last mail
confirms the erasure: its delivery belongs to no user, its recipient is `erased:` and an id, and its encrypted address
is deleted when the delivery ends.
"""
