"""Alerts for the on-call staff.

**Repetitions of an open alert are one alert** (by `dedupKey`): counted, with the highest severity, and paged again
after a higher severity or an hour. A page that fails after its retries is logged and stored in `page_error`; it
raises no alert.

**An alert closes** with `alert_cleared` of its `dedupKey`: `closedAt` is set, and the receiver gets `endsAt`
(Alertmanager), `resolve` (PagerDuty) or `closedAt` (webhook). The time of the event counts, not its arrival: a
clearing before its alert is retried, an alert from before the closing is stale, and a later one is new. An alert that
closes during its page is resolved again. Alertmanager does not keep alerts over a restart, so open alerts are sent
again every minute.

**An alert about lost messages** has no event that ends it. A member of staff discards its messages with a reason, and
the next one that is lost raises a new alert.

**An alert is acknowledged, assigned and noted** by staff, each with a line in its history. One that is not acknowledged
within its time to respond (SEV-1: half of it) is escalated once: it is paged as a second alert, which the receiver
routes to the second user on call. The acknowledgement is sent to the receiver once: `acknowledge` (PagerDuty), the
annotation `acknowledged_at` (Alertmanager), or `acknowledgedAt` and `acknowledgedBy` (webhook).
"""
