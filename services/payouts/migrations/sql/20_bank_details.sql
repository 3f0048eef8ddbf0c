ALTER TABLE bank_detail_versions ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        id, vendor_id, last4, bank_code, account_name, verified, reason, check_digit_valid, changed_by, changed_at,
        account_fingerprint, change
    ),
    INSERT (
        id, vendor_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, changed_by,
        changed_at, account_sealed, account_fingerprint, change
    )
ON bank_detail_versions TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON bank_detail_versions FROM campus_payouts_service;
GRANT
    UPDATE (
        account_number, last4, bank_code, account_name, verified, reason, check_digit_valid, account_sealed,
        account_fingerprint
    )
ON bank_detail_versions TO campus_payouts_service;
CREATE POLICY bank_detail_versions_insert ON bank_detail_versions FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('bank_details:own'));
CREATE POLICY bank_detail_versions_select ON bank_detail_versions FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('bank_details:own')))
        OR (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('wallet:own')))
        OR (SELECT app_may('bank_details:read'))
        OR (SELECT app_may('payouts:read'))
    );
CREATE POLICY bank_detail_versions_of_resets ON bank_detail_versions FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:reset')));

ALTER TABLE vendor_bank_details ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        vendor_id, version_id, last4, bank_code, account_name, verified, reason, check_digit_valid, quarantine_reason,
        updated_at, account_fingerprint, payouts_from
    ),
    INSERT (
        vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid,
        quarantine_reason, updated_at, account_sealed, account_fingerprint, payouts_from
    ),
    UPDATE (
        vendor_id, version_id, account_number, last4, bank_code, account_name, verified, reason, check_digit_valid,
        quarantine_reason, updated_at, account_sealed, account_fingerprint, payouts_from
    )
ON vendor_bank_details TO campus_payouts_api;
CREATE POLICY vendor_bank_details_select ON vendor_bank_details FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
        OR (vendor_id = app_vendor_id() AND app_may('wallet:own'))
        OR app_may('bank_details:read')
    );
CREATE POLICY vendor_bank_details_insert ON vendor_bank_details FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('bank_details:own'));
CREATE POLICY vendor_bank_details_update ON vendor_bank_details FOR UPDATE TO campus_payouts_api
    USING (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('bank_details:own'));

CREATE FUNCTION quarantines_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'who quarantined what is never edited' USING ERRCODE = 'restrict_violation';
END $$;

ALTER TABLE bank_detail_quarantines ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON bank_detail_quarantines TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON bank_detail_quarantines FROM campus_payouts_service;
CREATE POLICY bank_detail_quarantines_select ON bank_detail_quarantines FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = app_vendor_id() AND app_may('bank_details:own'))
        OR app_may('bank_details:read')
        OR app_may('payouts:read')
    );
CREATE TRIGGER bank_detail_quarantines_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bank_detail_quarantines
    FOR EACH STATEMENT EXECUTE FUNCTION quarantines_refuse_change();

ALTER TABLE bank_detail_releases ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON bank_detail_releases TO campus_payouts_api;
REVOKE ALL ON bank_detail_releases FROM campus_payouts_service;
GRANT SELECT, INSERT, UPDATE (status, decided_by, decided_at, rejection) ON bank_detail_releases TO campus_payouts_service;
CREATE POLICY bank_detail_releases_select ON bank_detail_releases FOR SELECT TO campus_payouts_api USING (app_may('payouts:read'));

-- A vendor may not read the releases. The answer about one quarantine names nobody.
CREATE FUNCTION quarantine_is_released(quarantine_id uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT EXISTS (SELECT FROM bank_detail_releases WHERE status = 'approved' AND quarantine_ids @> ARRAY[quarantine_id]) $$;
REVOKE EXECUTE ON FUNCTION quarantine_is_released FROM public;
GRANT EXECUTE ON FUNCTION quarantine_is_released TO campus_payouts_api, campus_payouts_service;

-- A vendor may not read the quarantines of others. The answer about one keyed fingerprint names none of them.
CREATE FUNCTION account_is_quarantined(fingerprint text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$ SELECT EXISTS (SELECT FROM bank_detail_quarantines WHERE account_fingerprint = fingerprint AND NOT quarantine_is_released(id)) $$;
REVOKE EXECUTE ON FUNCTION account_is_quarantined FROM public;
GRANT EXECUTE ON FUNCTION account_is_quarantined TO campus_payouts_api, campus_payouts_service;
