"""Messages to users on all channels.

1. The consumer inserts a row into `notifications` (the feed) and rows into `notification_deliveries` (one for each
   recipient and channel) in one statement, in the transaction of the inbox row. An event that arrives before its
   dependency, such as a PIN before the phone number, is retried. Events that arrive within 100 ms share the
   transaction (decision 80). The table is the queue: a delivery waits until `due_at`.
2. The dispatcher of a worker commits the claims of a batch, decrypts the secrets in memory, calls the providers
   concurrently for at most 10 s outside any transaction, and commits the outcomes with the rows of the attempts.
   After a transient failure the claim is released, and `due_at` is the next attempt of the retry ladder. The last
   failure marks the delivery `failed` and raises an alert. A permanent rejection (400, 413, 422; a number with
   do-not-disturb; SMTP 5yz; a value that cannot be decrypted) does so at once. An account fault (key, balance,
   sender, service account, TLS) pauses the provider with one alert: its messages wait, or the second provider sends
   them.
3. A claim is valid for 15 s, longer than any call, and no worker claims the delivery in the meantime. A sweep every 5
   s resolves the deliveries of dead workers (At most one message, below). Their attempts are logged as `unknown`.
   After 20 attempts a delivery fails.

**Each channel has its own limit** (decision 49): a worker sends at most `DELIVERIES_AT_ONCE` of its messages
concurrently, and four mails. A hanging provider delays only its own channel, and waiting messages are unclaimed. PINs
and codes are claimed before older messages. A worker with a free place claims a text or mail as it inserts it
(decision 61), an API process wakes a worker over `notifications.deliveries`, and a poll finds the rest within two
seconds. Pages and receipts use that queue too; the queues below it (`notifications.deliveries.<channel>`) have work
items of the previous release. `make notify-soak` sends 10,000 messages over four channels while one hangs for a
minute and the worker is killed three times. It reports delays, CPU time, duplicates and messages with an unknown
outcome.

**A circuit breaker pauses a failing provider** (`notifications/clients/circuit_breaker.py`) in each process, and each
push service of browsers separately. Its messages are postponed and use up no retry; one of them probes the provider
after the pause. One SEV-3 alert is open in the meantime. An account fault pauses at once, with one SEV-2 alert;
`Retry-After` pauses without one. The next accepted message closes the alert.

**A resend by staff** is recorded in `notification_resends`, unique by user and Idempotency-Key. A one-time code can
be resent within its lifetime (10 minutes, 30 for a password), a PIN until it is used or replaced.

**At most one message, and unknown outcomes.** Four mechanisms prevent duplicates: event ids in the inbox; a
notification id derived from the fact (order, issue, payout); the constraint on (notification, channel, recipient);
the claim. When a worker dies between the provider's acceptance and the commit, at most `DELIVERIES_AT_ONCE` messages
of a channel (mail: four) have an unknown outcome. Their kind decides (decision 26). PINs, codes and security notices
by mail are sent again. A push is sent again and replaces itself on the device (`tag`; a browser's worker shows it
under `notificationId`). A message of the messaging app is sent again after three minutes without a status. Other
mails and text messages become `failed` after two minutes, with an alert, and staff may resend them. No provider here
offers an idempotency key. A mail keeps its Message-ID (`<notification id@domain>`). A timeout of 10 s is retried,
unless a status of the messaging app reports the message in the meantime.

**Secrets are never stored in plain text.** Consumers store the encrypted value of the event. deliver-notification
encrypts the secret parameters of its template, and with `sensitive` every text parameter, before anything is stored.
The address of a one-time code stays encrypted; `recipient` holds it masked. Provider errors are stored without
repeated secrets, errors of a mail server not at all. `tests/integration/test_secrets.py` searches tables, logs,
events, delay queues and dead letters.

**A lost delivery is no dead letter.** It keeps its row with the encrypted values, and the alert names it. One alert
is open for each channel and template: SEV-2 for a PIN or code, else SEV-3.
"""
