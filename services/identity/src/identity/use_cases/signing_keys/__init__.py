"""The keys that sign access tokens.

    python -m identity rotate-keys                      # once a year
    python -m identity retire-keys                      # a quarter of an hour later, or the day after
    python -m identity retire-keys --compromised KID    # at once, when the key is compromised

Run them with the environment of the service's processes. No restart is needed. Each command can be repeated,
interrupted or run twice at once. It uses one transaction, prints its result, and writes an `audit:` line to the log.
A rejection exits with status 1.

- next: is published and signs in at most 90 s
- current: signs
- previous: is published, and verifies what it signed
- retired: is in no key set; its private half is deleted, its `kid` is kept

No request fails during a rotation. The key set may be cached for 60 s; verifiers renew theirs every 20 s and query an
unknown key at most every 5 s, so each has the new key before it signs. `retire-keys` refuses until 16.5 minutes after
the change, when the last token of the old key has expired.

A compromised key is retired at once with all its tokens, and clients refresh. If it was the current key, the next or
a new key signs from that moment; a verifier that queried keys just before rejects the new tokens for up to 5 s.
Within a minute no process accepts the old key. While identity is unavailable the other services keep their keys.

**A key signs by the clock.** A rotation writes one row with the time from which the key signs. No second step is
needed, and no process is notified.
"""
