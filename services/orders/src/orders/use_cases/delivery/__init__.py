"""Delivery PINs.

The delivery PIN is shown while the order is `paid_escrow`, `dispatched` or `disputed`. Before the payment, after its
use and during a refund the buyer gets 409 with the reason, and everyone else 404.

**PINs have a table of their own**, which shows the buyer no digest. It stores an HMAC over order, issue and PIN under
`PIN_KEY`, and the PIN encrypted under the same key. A wrong PIN is a return value, so that its count commits; the
endpoint then responds 400. The attempt and its result stay bound to (caller, Idempotency-Key).
After the fourth PIN, or five wrong attempts, two members of staff may add one more (`pin_reissues`): support identifies
the buyer and prepares it, another person approves it within a day. The new PIN goes to the buyer as every PIN does;
staff never see it. An order has at most ten PINs. A second approved reissue of an order raises a SEV-3 alert.
"""
