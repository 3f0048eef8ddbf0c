ALTER TABLE suspensions ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION staff_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the trail of staff acts is append-only' USING ERRCODE = 'restrict_violation';
END $$;

ALTER TABLE staff_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON staff_acts TO campus_identity_api;
-- Written once.
REVOKE UPDATE, DELETE ON staff_acts FROM campus_identity_service;
CREATE POLICY staff_acts_read ON staff_acts FOR SELECT USING (app_may('staff:read'));
-- A caller records acts in no other user's name.
CREATE POLICY staff_acts_own ON staff_acts FOR INSERT WITH CHECK (actor_id = app_user_id());
CREATE TRIGGER staff_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON staff_acts
    FOR EACH STATEMENT EXECUTE FUNCTION staff_acts_refuse_change();

ALTER TABLE staff_grants ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON staff_grants TO campus_identity_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON staff_grants FROM campus_identity_service;
GRANT UPDATE (status, prepared_by, prepared_at, expires_at, decided_by, decided_at) ON staff_grants TO campus_identity_service;
CREATE POLICY staff_grants_read ON staff_grants FOR SELECT USING (app_may('staff:read'));
