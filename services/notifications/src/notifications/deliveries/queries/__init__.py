"""Reads of this service, one module for each noun: SQL to typed records and API responses.

**Row security.** The API role sees `notifications` of `app.user_id` and may write only `read_at`; attempts and alerts
by permission. It has no grant on contacts, vendors, orders and deliveries. Tickets are visible to their owner,
`tickets:manage` and `tickets:read`, and their messages and images likewise; encrypted numbers and webhooks to no
caller. Devices and preferences are visible to their owner. A device is registered as the service, because its address
may belong to another user.
"""
