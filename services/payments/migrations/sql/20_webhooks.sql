ALTER TABLE processed_webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, event_type, outcome), UPDATE (outcome) ON processed_webhook_events TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON processed_webhook_events FROM campus_payments_service;
GRANT UPDATE (outcome) ON processed_webhook_events TO campus_payments_service;
CREATE POLICY processed_webhook_events_visible ON processed_webhook_events FOR SELECT
    USING (app_may('dead_letters:read') OR app_may('webhooks:replay'));
CREATE POLICY processed_webhook_events_replayed ON processed_webhook_events FOR UPDATE
    USING (app_may('webhooks:replay'));

ALTER TABLE dead_letter_webhooks ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (id, webhook_id, event_type, error, attempts, failed_at, replayed_at, provider, payload, closed_at),
    UPDATE (replayed_at, closed_at)
ON dead_letter_webhooks TO campus_payments_api;
-- Written once: the service may change only the columns named here.
REVOKE UPDATE, DELETE ON dead_letter_webhooks FROM campus_payments_service;
GRANT UPDATE (replayed_at, closed_at) ON dead_letter_webhooks TO campus_payments_service;
CREATE POLICY dead_letter_webhooks_visible ON dead_letter_webhooks FOR SELECT
    USING (app_may('dead_letters:read') OR app_may('webhooks:replay'));
CREATE POLICY dead_letter_webhooks_replayed ON dead_letter_webhooks FOR UPDATE USING (app_may('webhooks:replay'));

-- The condition of `payments.store.retention`, under the owner's rights: the service itself cannot remove what is
-- younger than seven days, the least value of WEBHOOKS_KEEP_DAYS.
CREATE FUNCTION remove_final_webhooks(until timestamptz, rows_max integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE removed bigint;
BEGIN
    IF until > now() - interval '7 days' THEN
        RAISE EXCEPTION 'webhooks are kept for at least seven days' USING ERRCODE = 'restrict_violation';
    END IF;
    WITH old AS MATERIALIZED (
        SELECT id FROM processed_webhook_events AS event
        WHERE processed_at <= until AND outcome IN ('done', 'ignored') AND NOT EXISTS (
            SELECT FROM dead_letter_webhooks AS letter
            WHERE letter.webhook_id = event.id AND coalesce(letter.replayed_at, letter.closed_at, letter.failed_at) > until
        ) AND NOT EXISTS (
            SELECT FROM revised_webhooks AS revised
            WHERE revised.webhook_id = event.id AND (revised.due_at IS NOT NULL OR revised.revised_at > until)
        )
        ORDER BY processed_at LIMIT rows_max FOR UPDATE OF event SKIP LOCKED
    ), letters AS (DELETE FROM dead_letter_webhooks USING old WHERE dead_letter_webhooks.webhook_id = old.id),
    revisions AS (DELETE FROM webhook_revisions USING old WHERE webhook_revisions.webhook_id = old.id),
    revised AS (DELETE FROM revised_webhooks USING old WHERE revised_webhooks.webhook_id = old.id)
    DELETE FROM processed_webhook_events AS going USING old WHERE going.id = old.id;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;
REVOKE EXECUTE ON FUNCTION remove_final_webhooks FROM public;
GRANT EXECUTE ON FUNCTION remove_final_webhooks TO campus_payments_service;

ALTER TABLE dead_letter_closures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON dead_letter_closures TO campus_payments_api;
CREATE POLICY dead_letter_closures_visible ON dead_letter_closures FOR SELECT
    USING (app_may('dead_letters:read') OR app_may('webhooks:replay'));
CREATE POLICY dead_letter_closures_own ON dead_letter_closures FOR INSERT
    WITH CHECK (closed_by = app_user_id() AND app_may('webhooks:replay'));

ALTER TABLE dead_letter_actions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON dead_letter_actions TO campus_payments_api;
CREATE POLICY dead_letter_actions_visible ON dead_letter_actions FOR SELECT
    USING (app_may('dead_letters:read') OR app_may('webhooks:replay'));
CREATE POLICY dead_letter_actions_own ON dead_letter_actions FOR INSERT
    WITH CHECK (acted_by = app_user_id() AND app_may('webhooks:replay'));
