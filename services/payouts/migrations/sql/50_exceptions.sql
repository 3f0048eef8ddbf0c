ALTER TABLE payout_exceptions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (cause, severity, respond_by) ON payout_exceptions TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_exceptions FROM campus_payouts_service;
GRANT
    UPDATE (cause, severity, status, respond_by, closed_at, closed_because)
ON payout_exceptions TO campus_payouts_service;
CREATE POLICY payout_exceptions_select ON payout_exceptions FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('wallet:own')))
        OR (SELECT app_may('payouts:read')) OR (SELECT app_may('exceptions:read'))
    );
CREATE POLICY payout_exceptions_update ON payout_exceptions FOR UPDATE TO campus_payouts_api
    USING (app_may('exceptions:classify'))
    WITH CHECK (app_may('exceptions:classify'));

CREATE FUNCTION exception_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was done about an exception is never edited' USING ERRCODE = 'restrict_violation';
END $$;

ALTER TABLE payout_exception_acts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_exception_acts TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_exception_acts FROM campus_payouts_service;
CREATE POLICY payout_exception_acts_select ON payout_exception_acts FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'));
CREATE POLICY payout_exception_acts_insert ON payout_exception_acts FOR INSERT TO campus_payouts_api
    WITH CHECK (app_may('exceptions:classify') AND acted_by = app_user_id() AND kind = 'classified');
CREATE TRIGGER payout_exception_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_exception_acts
    FOR EACH STATEMENT EXECUTE FUNCTION exception_acts_refuse_change();

ALTER TABLE standing_alerts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON standing_alerts TO campus_payouts_api;
CREATE POLICY standing_alerts_select ON standing_alerts FOR SELECT TO campus_payouts_api
    USING (app_may('exceptions:read'));

ALTER TABLE reconciliations ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON reconciliations TO campus_payouts_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON reconciliations FROM campus_payouts_service;
GRANT UPDATE (status, reason, decided_by, decided_at, rejection) ON reconciliations TO campus_payouts_service;
CREATE POLICY reconciliations_select ON reconciliations FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:read'));

CREATE FUNCTION payout_acts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'who did what to a payout is never edited' USING ERRCODE = 'restrict_violation';
END $$;

ALTER TABLE payout_acts ENABLE ROW LEVEL SECURITY;
-- Written once.
REVOKE UPDATE, DELETE ON payout_acts FROM campus_payouts_service;
CREATE TRIGGER payout_acts_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payout_acts
    FOR EACH STATEMENT EXECUTE FUNCTION payout_acts_refuse_change();

ALTER TABLE transfer_holds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON transfer_holds TO campus_payouts_api;
GRANT SELECT, INSERT, UPDATE (status, decided_at) ON transfer_holds TO campus_payouts_service;
CREATE POLICY transfer_holds_select ON transfer_holds FOR SELECT TO campus_payouts_api USING ((vendor_id = app_vendor_id() AND app_may('wallet:own')) OR app_may('payouts:read'));
