ALTER TABLE payout_requests ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON payout_requests TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_requests FROM campus_payouts_service;
GRANT
    UPDATE (
        status, transfer_reference, transfer_code, transfer_failure, retry_count, updated_at, processed_at,
        restitution_awaited_since, restitution_reason
    )
ON payout_requests TO campus_payouts_service;
CREATE POLICY payout_requests_select ON payout_requests FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('wallet:own')))
        OR (SELECT app_may('payouts:read'))
    );
CREATE POLICY payout_requests_insert ON payout_requests FOR INSERT TO campus_payouts_api
    WITH CHECK (vendor_id = app_vendor_id() AND app_may('wallet:own'));
-- Who resets a payout sees the one that was reset.
CREATE POLICY payout_requests_of_resets ON payout_requests FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:reset')));

ALTER TABLE dispatch_batches ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispatch_batches TO campus_payouts_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dispatch_batches FROM campus_payouts_service;
GRANT UPDATE (answer, finished_at, remaining) ON dispatch_batches TO campus_payouts_service;
CREATE POLICY dispatch_batches_select ON dispatch_batches FOR SELECT TO campus_payouts_api
    USING (dispatched_by = app_user_id() AND app_may('payouts:dispatch'));

ALTER TABLE payout_holds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payout_holds TO campus_payouts_api;
REVOKE ALL ON payout_holds FROM campus_payouts_service;
GRANT SELECT, INSERT, UPDATE (status, released_by, released_at, release_reason) ON payout_holds TO campus_payouts_service;
CREATE POLICY payout_holds_select ON payout_holds FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('wallet:own')))
        OR (SELECT app_may('payouts:read'))
    );

ALTER TABLE dispatch_approvals ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON dispatch_approvals TO campus_payouts_api;
REVOKE ALL ON dispatch_approvals FROM campus_payouts_service;
GRANT SELECT, INSERT, UPDATE (status, decided_by, decided_at, rejection) ON dispatch_approvals TO campus_payouts_service;
CREATE POLICY dispatch_approvals_select ON dispatch_approvals FOR SELECT TO campus_payouts_api
    USING (app_may('payouts:read'));

-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dispatch_lines FROM campus_payouts_service;
GRANT UPDATE (outcome, reason) ON dispatch_lines TO campus_payouts_service;

ALTER TABLE payout_transfers ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payout_transfers TO campus_payouts_api;
-- Written once.
REVOKE UPDATE, DELETE ON payout_transfers FROM campus_payouts_service;
GRANT
    UPDATE (
        batch_id, status, recipient_code, transfer_code, failure, submissions, poll_count, asks, due_at, updated_at,
        called_at, fee, gateway
    )
ON payout_transfers TO campus_payouts_service;
-- The previous version counts in `asks` during an upgrade. Drop the function in the next release (decision 109).
CREATE FUNCTION copy_renamed_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.asks <> OLD.asks THEN
        NEW.poll_count := NEW.asks;
    ELSE
        NEW.asks := NEW.poll_count;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payout_transfers_copy_renamed_count BEFORE UPDATE OF asks, poll_count ON payout_transfers
    FOR EACH ROW EXECUTE FUNCTION copy_renamed_count();
CREATE POLICY payout_transfers_select ON payout_transfers FOR SELECT TO campus_payouts_api
    USING (
        (vendor_id = (SELECT app_vendor_id()) AND (SELECT app_may('wallet:own')))
        OR (SELECT app_may('payouts:read'))
    );
-- Staff count attempts and query the gateway for the reference of one in trouble.
CREATE POLICY payout_transfers_select_observed ON payout_transfers FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('exceptions:read')));
CREATE POLICY payout_transfers_of_resets ON payout_transfers FOR SELECT TO campus_payouts_api
    USING ((SELECT app_may('payouts:reset')));

CREATE FUNCTION observations_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what the gateway said is never edited' USING ERRCODE = 'restrict_violation';
END $$;

-- Written once.
REVOKE UPDATE, DELETE ON transfer_observations FROM campus_payouts_service;
CREATE TRIGGER transfer_observations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer_observations
    FOR EACH STATEMENT EXECUTE FUNCTION observations_refuse_change();
-- The previous version writes and reads `heard_from` during an upgrade. Drop the function in the next release (decision 109).
CREATE FUNCTION copy_renamed_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.heard_from := coalesce(NEW.heard_from, NEW.update_source);
    NEW.update_source := NEW.heard_from;
    RETURN NEW;
END $$;
CREATE TRIGGER transfer_observations_copy_renamed_source BEFORE INSERT ON transfer_observations
    FOR EACH ROW EXECUTE FUNCTION copy_renamed_source();

-- When the gateway reported the return of a paid transfer. A report counts until the gateway, queried after it, reports
-- the success again. A vendor may not read the reports; the time of one transfer shows nothing else of them.
CREATE FUNCTION transfer_returned_at(returned_transfer_id uuid) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp
AS $$
    SELECT min(o.observed_at) FROM transfer_observations AS o
    WHERE o.transfer_id = returned_transfer_id AND o.status = 'reversed'
      AND NOT EXISTS (SELECT FROM transfer_observations AS q WHERE q.transfer_id = returned_transfer_id
                      AND q.position > o.position AND q.update_source = 'query'
                      AND q.status = 'success' AND q.verdict <> 'contradiction')
      AND EXISTS (SELECT FROM transfer_observations AS s WHERE s.transfer_id = returned_transfer_id
                  AND s.status = 'success' AND s.verdict IN ('advanced', 'confirmed', 'late_success'))
$$;
REVOKE EXECUTE ON FUNCTION transfer_returned_at FROM public;
GRANT EXECUTE ON FUNCTION transfer_returned_at TO campus_payouts_api, campus_payouts_service;
