ALTER TABLE campuses ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (name, active, revision) ON campuses TO campus_identity_api;
-- Auditors also read closed campuses and hubs.
CREATE POLICY campuses_read ON campuses FOR SELECT
    USING (
        active
        OR app_may('campuses:manage_all')
        OR (app_may('campuses:manage') AND id = app_campus_id())
        OR app_may('campuses:read')
    );
CREATE POLICY campuses_open ON campuses FOR INSERT WITH CHECK (app_may('campuses:manage_all'));
CREATE POLICY campuses_change ON campuses FOR UPDATE
    USING (app_may('campuses:manage_all') OR (app_may('campuses:manage') AND id = app_campus_id()));

ALTER TABLE hubs ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (name, address, delivery_fee_minor, active, revision, opening_hours) ON hubs TO campus_identity_api;
CREATE POLICY hubs_read ON hubs FOR SELECT
    USING (
        active
        OR app_may('campuses:manage_all')
        OR (app_may('campuses:manage') AND campus_id = app_campus_id())
        OR app_may('campuses:read')
    );
CREATE POLICY hubs_open ON hubs FOR INSERT
    WITH CHECK (app_may('campuses:manage_all') OR (app_may('campuses:manage') AND campus_id = app_campus_id()));
CREATE POLICY hubs_change ON hubs FOR UPDATE
    USING (app_may('campuses:manage_all') OR (app_may('campuses:manage') AND campus_id = app_campus_id()));
