"""The personal data of a user in this service, for the user's own export."""

from typing import Final

from common.standard_endpoints.personal_records import Section

SECTIONS: Final = (
    Section(
        "profile",
        "SELECT id::text AS place, id, email, phone, full_name, role, campus_id, confirmed_email, confirmed_phone, "
        "referral_token, referral_applied, referral_reward_minor, created_at, updated_at FROM profiles WHERE id = $1",
    ),
    Section(
        "sessions",
        (
            "SELECT id::text AS place, id, signed_in_at, ended_at, ended_because, method, user_agent, issuer FROM "
            "sessions WHERE user_id = $1"
        ),
        past_policies=True,
    ),
    Section(
        "identityProviders",
        "SELECT issuer AS place, issuer, sub AS subject, linked_at FROM oidc_links WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "secondFactors",
        "SELECT id::text AS place, id, 'totp' AS kind, name, created_at, last_used_at FROM totp_factors WHERE "
        "user_id = $1 "
        "UNION ALL SELECT id::text, id, 'passkey', name, created_at, last_used_at FROM passkeys WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "apiKeys",
        "SELECT id::text AS place, id, name, vendor_id, created_at, expires_at, last_used_at, revoked_at FROM api_keys "
        "WHERE created_by = $1",
        past_policies=True,
    ),
    Section(
        "savedViews",
        "SELECT id::text AS place, id, path, name, query, created_at FROM saved_views WHERE user_id = $1",
    ),
    Section(
        "roles",
        "SELECT role AS place, role, campus_id, hub_id, granted_at FROM role_grants WHERE user_id = $1",
    ),
    Section(
        "suspension",
        "SELECT user_id::text AS place, reason, suspended_at FROM suspensions WHERE user_id = $1",
        past_policies=True,
    ),
    Section(
        "actsOfStaff",
        (
            "SELECT id::text AS place, act, subject_kind, detail::text AS detail, created_at FROM staff_acts WHERE "
            "subject_id = $1"
        ),
        past_policies=True,
    ),
    Section(
        "vendor",
        "SELECT id::text AS place, id, business_name, legal_name, campus_id, category, description, status, "
        "suspension_reason, created_at "
        "FROM vendors WHERE owner_user_id = $1",
        past_policies=True,
    ),
    Section(
        "vendorApplications",
        "SELECT id::text AS place, id, business_name, legal_name, campus_id, category, description, status, "
        "reason, created_at, decided_at "
        "FROM vendor_applications WHERE user_id = $1",
    ),
    Section(
        "shopMembership",
        "SELECT user_id::text AS place, vendor_id, role, joined_at FROM shop_members_in_full WHERE user_id = $1",
    ),
    Section(
        "shopInvitations",
        "SELECT id::text AS place, id, vendor_id, role, created_at, expires_at FROM shop_invitations WHERE email = "
        "(SELECT confirmed_email FROM profiles WHERE id = $1)",
        past_policies=True,
    ),
    # The referred users' other data belongs to them.
    Section(
        "referrals",
        "SELECT user_id::text AS place, reward_minor, created_at FROM referrals WHERE referrer_id = $1",
    ),
    Section(
        "erasureRequests",
        "SELECT id::text AS place, id, status, asked_at, decided_at FROM erasure_requests WHERE user_id = $1",
    ),
)
