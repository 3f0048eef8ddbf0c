"""Vendors' bank details and their quarantine.

**Verified**: the account's name, resolved at the gateway between two units of work, contains every word of the
vendor's legal name. Another name or an unknown account is saved with `verified: false` and a `reason` that starts
with `name_mismatch` or `account_number_invalid`, and replaces no verified account (decision 228): it is a row of the
history alone, and no notification is sent. A wrong NUBAN check digit is a `warning`. Every change is a new row of the
history and is published (`bank_details_changed`, mail to the owner). A payout refers to the row of its request.
Details that no longer match a changed legal name become unverified. The wallet's lock orders the changes of one
vendor.

**Banks**: the worker stores the gateway's own list once a day (`gateway_banks`). Until the first one is stored, the
shipped list applies. Only the gateway's own report of no such account (422) makes details unverified for that reason.
A rejected key, a rate limit or a fault of the bank is 503, and nothing has changed.

**Cooling-off** (`BANK_DETAILS_COOLING_SECONDS`): payouts to a changed account can be requested at once and are sent
from `payoutsFrom` on; until then a dispatch skips them (`bank_details_cooling`). A vendor's first verified account
needs none. The account that was verified last keeps its state, also after an unverified one; a return to an earlier
one is a change. A payout requested with another account than the present one, or with an unverified one, is skipped
(`bank_details_changed`).

**Quarantine**: the first transaction unverifies the present details, whatever the gateway does. Requests are then
409, reserved attempts are not sent, and the owner is notified with the reason (`bank_details_quarantined`). The named
payout returns to the wallet at once when no attempt was ever sent. Otherwise it is marked
(`restitution_awaited_since`) and queried outside any transaction, then by the worker, until the gateway reports the
outcome. A confirmed failure or reversal is a restitution, a success is `processed`; a webhook alone only causes a
query. A marked payout is never sent again. Another attempt under way, or a contradiction, requires a four-eyes
reconciliation. A repetition has no effect, except for a payout that was not named before; another reason is only
recorded. `bank_detail_quarantines` stores account, author and reason. With a `payoutId` the payout's own account is
quarantined, even when the present one differs. **A quarantined account returns only by a release of two people** (409
before), for every vendor: other vendors with that account are quarantined too, and a dispatch skips their payouts at
once. Another verified account ends the quarantine after the cooling-off; an unverified one does not. A release names
the quarantines that it ends (`bank_detail_releases`), so that any later quarantine of the account holds.

**Account numbers are encrypted at rest** (decision 19): AES-256-GCM under `ACCOUNT_NUMBER_KEY`, bound to the vendor,
decrypted only for the gateway. A keyed fingerprint shows whether two accounts are the same. The worker encrypts
plaintext numbers of earlier releases, all rows of a vendor at once, while payouts continue. A process with a wrong
key does not start. The key is rotated while payouts continue (runbook, `python -m payouts re-encrypt [--count]`);
fingerprints stay the same (decision 36).
"""
