ALTER TABLE profiles ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (phone, full_name, revision, updated_at) ON profiles TO campus_identity_api;
CREATE POLICY profiles_read_own ON profiles FOR SELECT
    USING (erased_at IS NULL AND (id = app_user_id() OR app_may('staff:read')));
CREATE POLICY profiles_change_own ON profiles FOR UPDATE USING (erased_at IS NULL AND id = app_user_id());

ALTER TABLE referrals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON referrals TO campus_identity_api;
CREATE POLICY referrals_read_own ON referrals FOR SELECT USING (referrer_id = app_user_id());

ALTER TABLE role_grants ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON role_grants TO campus_identity_api;
CREATE POLICY role_grants_read_own ON role_grants FOR SELECT USING (user_id = app_user_id() OR app_may('staff:read'));

ALTER TABLE erasure_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON erasure_requests TO campus_identity_api;
CREATE POLICY erasure_requests_own ON erasure_requests FOR SELECT USING (user_id = app_user_id());

ALTER TABLE erasure_verdicts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON erasure_verdicts TO campus_identity_api;
-- Written once.
REVOKE UPDATE, DELETE ON erasure_verdicts FROM campus_identity_service;
CREATE POLICY erasure_verdicts_own ON erasure_verdicts FOR SELECT
    USING (
        EXISTS (SELECT FROM erasure_requests AS asked WHERE asked.id = request_id AND asked.user_id = app_user_id())
    );

ALTER TABLE erased_mailboxes ENABLE ROW LEVEL SECURITY;

ALTER TABLE saved_views ENABLE ROW LEVEL SECURITY;
-- The service writes them under the lock of their person, which bounds their number.
GRANT SELECT ON saved_views TO campus_identity_api;
CREATE POLICY saved_views_of_their_person ON saved_views FOR SELECT USING (user_id = app_user_id());
