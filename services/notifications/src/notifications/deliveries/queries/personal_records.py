"""Sections of a user's personal data export."""

from typing import Final

from common.standard_endpoints.personal_records import Section

SECTIONS: Final = (
    Section(
        "contact",
        "SELECT user_id::text AS place, email, phone, phone_confirmed, full_name FROM contacts WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "notifications",
        (
            "SELECT id::text AS place, id, template, title, body, created_at, read_at FROM notifications WHERE "
            "user_id = $1"
        ),
    ),
    Section(
        "messagesSent",
        "SELECT id::text AS place, id, channel, template, recipient, status, attempted_at "
        "FROM notification_delivery_logs WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "devices",
        "SELECT id::text AS place, id, kind, address, created_at FROM user_devices WHERE user_id = $1",
    ),
    Section(
        "preferences",
        "SELECT user_id::text AS place, channels, quiet_from, quiet_to, timezone, locale, updated_at "
        "FROM notification_preferences WHERE user_id = $1",
    ),
)
