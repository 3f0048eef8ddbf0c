ALTER TABLE vendors ENABLE ROW LEVEL SECURITY;
-- The legal name and the commission are for the vendor and staff only: vendors_in_full.
GRANT
    SELECT (
        id, business_name, campus_id, created_at, category, description, absent_until, absence_message, opening_hours
    )
ON vendors TO campus_identity_api;
CREATE POLICY vendors_read ON vendors FOR SELECT USING (status = 'active');

-- A commission must equal the vendor's newest approved change.
CREATE FUNCTION vendors_refuse_unapproved_commission() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM (
            SELECT basis_points FROM commission_changes WHERE vendor_id = NEW.id AND status = 'approved'
            ORDER BY decided_at DESC, id DESC LIMIT 1
        ) AS newest WHERE newest.basis_points IS NOT DISTINCT FROM NEW.commission_basis_points
    ) THEN
        RAISE EXCEPTION 'a commission is changed by an approved commission change only'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER vendors_commission_by_two BEFORE UPDATE OF commission_basis_points ON vendors
    FOR EACH ROW WHEN (NEW.commission_basis_points IS DISTINCT FROM OLD.commission_basis_points)
    EXECUTE FUNCTION vendors_refuse_unapproved_commission();

-- Every way to approve and to close a vendor.
CREATE FUNCTION vendors_set_role_of_owner() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner_role text := CASE NEW.status WHEN 'closed' THEN 'buyer' ELSE 'merchant' END;
BEGIN
    -- A suspension changes no role and must not lock the profile: an erasure locks it before the vendor.
    UPDATE profiles SET role = owner_role WHERE id = NEW.owner_user_id AND role <> owner_role;
    RETURN NULL;
END $$;

CREATE TRIGGER vendors_role_of_owner AFTER INSERT OR UPDATE OF status ON vendors
    FOR EACH ROW EXECUTE FUNCTION vendors_set_role_of_owner();

-- What only the vendor and staff may read, under a condition of its own.
CREATE VIEW vendors_in_full WITH (security_barrier) AS
SELECT id, owner_user_id, business_name, legal_name, campus_id, category, description, status, suspension_reason,
       commission_basis_points, revision, created_at, absent_until, absence_message, opening_hours
FROM vendors
WHERE owner_user_id = app_user_id()
   OR app_may('vendors:read')
   OR app_may('vendors:commission')
   OR (app_may('vendors:suspend') AND campus_id = app_campus_id());
GRANT SELECT ON vendors_in_full TO campus_identity_api;

ALTER TABLE vendor_applications ENABLE ROW LEVEL SECURITY;
-- A caller submits an application and writes nothing of its decision.
GRANT
    SELECT,
    INSERT (id, user_id, business_name, legal_name, campus_id, category, description, created_at)
ON vendor_applications TO campus_identity_api;
CREATE POLICY vendor_applications_read ON vendor_applications FOR SELECT
    USING (
        user_id = app_user_id()
        OR (app_may('vendor_applications:decide') AND campus_id = app_campus_id())
        OR app_may('vendor_applications:read')
    );
CREATE POLICY vendor_applications_submit_own ON vendor_applications FOR INSERT WITH CHECK (user_id = app_user_id());

ALTER TABLE commission_changes ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON commission_changes TO campus_identity_api;
CREATE POLICY commission_changes_read ON commission_changes FOR SELECT
    USING (app_may('vendors:commission') OR app_may('vendors:read'));

ALTER TABLE shop_members ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop_invitations ENABLE ROW LEVEL SECURITY;
-- A caller reads the views: the owner reads the members and invitations of the shop, a member the own membership, and
-- the holder of a confirmed address its invitations.
CREATE VIEW shop_members_in_full WITH (security_barrier) AS
SELECT member.vendor_id, member.user_id, member.role, member.added_by, member.joined_at, profile.full_name,
       profile.email, shop.business_name
FROM shop_members AS member
    JOIN vendors AS shop ON shop.id = member.vendor_id AND shop.status <> 'closed'
    JOIN profiles AS profile ON profile.id = member.user_id
WHERE member.user_id = app_user_id() OR shop.owner_user_id = app_user_id();
GRANT SELECT ON shop_members_in_full TO campus_identity_api;
CREATE VIEW shop_invitations_in_full WITH (security_barrier) AS
SELECT invitation.id, invitation.vendor_id, invitation.email, invitation.role, invitation.invited_by,
       invitation.created_at, invitation.expires_at, shop.business_name,
       shop.owner_user_id IS DISTINCT FROM app_user_id() AS is_for_caller
FROM shop_invitations AS invitation
    JOIN vendors AS shop ON shop.id = invitation.vendor_id AND shop.status <> 'closed'
WHERE shop.owner_user_id = app_user_id()
   OR invitation.email = (
        SELECT profile.confirmed_email FROM profiles AS profile
        WHERE profile.id = app_user_id() AND profile.confirmed_email = profile.email
   );
GRANT SELECT ON shop_invitations_in_full TO campus_identity_api;
