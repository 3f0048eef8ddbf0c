"""Webhooks of the payment gateway.

`receive_webhook` verifies the signature (`GATEWAY_SIGNATURE_HEADER`) over the raw bytes. One statement files the
webhook under `<event>:<data.id>` in `processed_webhook_events` and adds its work item to the outbox. Every correctly
signed body gets 200 after that commit, whatever its shape.

**Revised webhooks.** The same content under a recorded key is a duplicate; key order and white space do not count.
Other content gets 200 and is not processed. Its bytes are stored in `webhook_revisions`, at most ten for each key;
`revised_webhooks` counts all. `payments_webhooks_accepted_total{arrival="revised"}` counts it, and a SEV-3 alert
names the differing fields. Within seconds `query_revised_webhook` queries the gateway for the present state of the
charge, transfer, refund or dispute. The response is filed under its own key (`answer:<event>:<id>:<hash>`) and
processed like a webhook. A key is queried at most once in 30 s. A query without a response is repeated after 1, 2, 4
... 60 min (decision 33).

Outcomes of a webhook: `queued`, `done`, `ignored` (unknown event, no change, or closed), `dead` (dead-lettered, in
`dead_letter_webhooks`). A signed event about money that is malformed is dead-lettered at once, with its alert.
"""
