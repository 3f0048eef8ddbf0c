"""Incoming messages of the messaging app.

**Webhooks of the messaging app** are verified over the raw bytes and stored in `processed_webhook_events` under the
SHA-256 of the body, with their work item in one commit. The worker splits a body into `messaging_items`: messages by
id, statuses by (message id, status), each with its own retries on the queue `notifications.support`. Repetitions in
another body are the same item, and a malformed item blocks no other. Every kind of message becomes a text
(`domain/incoming_texts.py`); files stay with the app. An item without sender, a message of a group and a kind without
a text are ignored and counted. A user who hides the number has the app's id (`from_user_id`) in its place: the ticket
belongs to no user, and replies go to the id. A status that matches no message after its retries is ignored and
counted too. The error of a failed status is logged and stored with its attempt, without runs of digits. A message
that fails after its retries is a row of `dead_letter_webhooks` with an alert, and is replayed or closed. An erasure
empties and closes those that name the user, without `closedBy`; a body that could not be split is emptied in whole.
"""
