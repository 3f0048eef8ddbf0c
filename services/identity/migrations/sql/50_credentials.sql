ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;

ALTER TABLE sign_up_passwords ENABLE ROW LEVEL SECURITY;

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE refresh_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE totp_factors ENABLE ROW LEVEL SECURITY;

ALTER TABLE recovery_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE passkeys ENABLE ROW LEVEL SECURITY;

-- Shows whether a member has a second factor; the tables behind it stay ungranted.
CREATE VIEW staff_members WITH (security_barrier) AS
SELECT p.id, p.full_name, p.email, p.created_at, s.suspended_at, s.suspended_by, s.reason AS suspension_reason,
    EXISTS (SELECT FROM totp_factors f WHERE f.user_id = p.id AND f.confirmed_at IS NOT NULL)
        OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = p.id) AS has_second_factor
FROM profiles p LEFT JOIN suspensions s ON s.user_id = p.id
WHERE app_may('staff:read') AND p.erased_at IS NULL;
GRANT SELECT ON staff_members TO campus_identity_api;

ALTER TABLE passkey_challenges ENABLE ROW LEVEL SECURITY;

ALTER TABLE one_time_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE login_failures ENABLE ROW LEVEL SECURITY;

ALTER TABLE signing_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE issued_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE code_tries ENABLE ROW LEVEL SECURITY;

ALTER TABLE message_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE oidc_flows ENABLE ROW LEVEL SECURITY;

ALTER TABLE oidc_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE oidc_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE oidc_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE oidc_logouts ENABLE ROW LEVEL SECURITY;

ALTER TABLE factor_resets ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON factor_resets TO campus_identity_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON factor_resets FROM campus_identity_service;
GRANT UPDATE (status, reason, decided_by, decided_at) ON factor_resets TO campus_identity_service;
CREATE POLICY factor_resets_read ON factor_resets FOR SELECT
    USING (app_may('factor_resets:prepare') OR app_may('factor_resets:approve') OR app_may('staff:read'));

ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
-- The hash is for the service only.
GRANT
    SELECT (
        id, hint, name, vendor_id, scopes, networks, created_by, created_at, expires_at, last_used_at, revoked_at,
        revoked_by
    )
ON api_keys TO campus_identity_api;
-- A key never gains a scope or time.
REVOKE UPDATE ON api_keys FROM campus_identity_service;
GRANT UPDATE (last_used_at, warned_at, revoked_at, revoked_by) ON api_keys TO campus_identity_service;
CREATE POLICY api_keys_read ON api_keys FOR SELECT
    USING (app_may('api_keys:manage') OR (app_may('api_keys:own') AND vendor_id = app_vendor_id()));
