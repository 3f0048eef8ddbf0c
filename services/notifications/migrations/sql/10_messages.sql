ALTER TABLE feeds ENABLE ROW LEVEL SECURITY;

ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (read_at) ON notifications TO campus_notifications_api;
CREATE POLICY notifications_of_their_user ON notifications USING (user_id = app_user_id());

ALTER TABLE notification_delivery_logs ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON notification_delivery_logs TO campus_notifications_api;
CREATE POLICY notification_delivery_logs_for_staff ON notification_delivery_logs FOR SELECT
    USING (app_may('delivery_logs:read') OR app_may('notifications:resend'));

ALTER TABLE notification_resends ENABLE ROW LEVEL SECURITY;

ALTER TABLE pin_watches ENABLE ROW LEVEL SECURITY;

ALTER TABLE user_devices ENABLE ROW LEVEL SECURITY;
GRANT SELECT, DELETE ON user_devices TO campus_notifications_api;
CREATE POLICY user_devices_of_their_user ON user_devices USING (user_id = app_user_id());

ALTER TABLE notification_preferences ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON notification_preferences TO campus_notifications_api;
CREATE POLICY notification_preferences_of_their_user ON notification_preferences USING (user_id = app_user_id());

ALTER TABLE alerts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (acknowledged_at, acknowledged_by, assignee_id) ON alerts TO campus_notifications_api;
CREATE POLICY alerts_for_staff ON alerts FOR SELECT
    USING (app_may('alerts:read') OR (app_may('money_alerts:read') AND source IN ('payments', 'payouts')));
-- Only of alerts that the caller sees.
CREATE POLICY alerts_acknowledged ON alerts FOR UPDATE USING (app_may('alerts:acknowledge'));

ALTER TABLE alert_actions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON alert_actions TO campus_notifications_api;
CREATE POLICY alert_actions_for_staff ON alert_actions FOR SELECT
    USING (EXISTS (SELECT FROM alerts a WHERE a.id = alert_id));
CREATE POLICY alert_actions_written ON alert_actions FOR INSERT
    WITH CHECK (
        acted_by = app_user_id() AND app_may('alerts:acknowledge')
        AND EXISTS (SELECT FROM alerts a WHERE a.id = alert_id)
    );

ALTER TABLE drills ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON drills TO campus_notifications_api;
GRANT UPDATE (seen_at, acknowledged_at, cleared_at, ended_at, runbook_steps) ON drills TO campus_notifications_api;
CREATE POLICY drills_for_staff ON drills FOR SELECT USING (app_may('alerts:read'));
CREATE POLICY drills_started ON drills FOR INSERT
    WITH CHECK (started_by = app_user_id() AND app_may('operations:stop'));
CREATE POLICY drills_ended ON drills FOR UPDATE USING (app_may('operations:stop'));

ALTER TABLE processed_webhook_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE messaging_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE support_tickets ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        id, user_id, source, subject, order_id, status, priority, assignee_id, revision, unread_by_customer,
        unread_by_staff, phone_masked, heard_at, created_at, updated_at, closed_at, number
    ),
    INSERT (
        id, user_id, source, subject, order_id, status, priority, revision, unread_by_staff, created_at,
        updated_at
    ),
    UPDATE (status, priority, assignee_id, revision, unread_by_customer, unread_by_staff, updated_at, closed_at)
ON support_tickets TO campus_notifications_api;
CREATE POLICY support_tickets_seen ON support_tickets FOR SELECT
    USING (user_id = app_user_id() OR app_may('tickets:manage') OR app_may('tickets:read'));
CREATE POLICY support_tickets_opened ON support_tickets FOR INSERT
    WITH CHECK (user_id = app_user_id() AND source = 'app');
CREATE POLICY support_tickets_changed ON support_tickets FOR UPDATE
    USING (user_id = app_user_id() OR app_may('tickets:manage'));

ALTER TABLE support_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON support_messages TO campus_notifications_api;
CREATE POLICY support_messages_seen ON support_messages FOR SELECT
    USING (EXISTS (SELECT FROM support_tickets t WHERE t.id = ticket_id));
CREATE POLICY support_messages_written ON support_messages FOR INSERT
    WITH CHECK (
        author_id = app_user_id()
        AND EXISTS (
            SELECT FROM support_tickets t
            WHERE t.id = ticket_id
              AND CASE author WHEN 'customer' THEN t.user_id = app_user_id() ELSE app_may('tickets:manage') END
        )
    );

ALTER TABLE support_notes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON support_notes TO campus_notifications_api;
CREATE POLICY support_notes_for_staff ON support_notes FOR SELECT
    USING (
        (app_may('tickets:manage') OR app_may('tickets:read'))
        AND EXISTS (
            SELECT FROM support_tickets t WHERE t.id = ticket_id AND t.user_id IS DISTINCT FROM app_user_id()
        )
    );
CREATE POLICY support_notes_written ON support_notes FOR INSERT
    WITH CHECK (
        author_id = app_user_id() AND app_may('tickets:manage')
        AND EXISTS (
            SELECT FROM support_tickets t WHERE t.id = ticket_id AND t.user_id IS DISTINCT FROM app_user_id()
        )
    );

ALTER TABLE support_attachments ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON support_attachments TO campus_notifications_api;
CREATE POLICY support_attachments_seen ON support_attachments FOR SELECT
    USING (EXISTS (SELECT FROM support_tickets t WHERE t.id = ticket_id));
CREATE POLICY support_attachments_written ON support_attachments FOR INSERT
    WITH CHECK (
        author_id = app_user_id()
        AND EXISTS (
            SELECT FROM support_tickets t
            WHERE t.id = ticket_id
              AND CASE author WHEN 'customer' THEN t.user_id = app_user_id() ELSE app_may('tickets:manage') END
        )
    );

ALTER TABLE provider_pauses ENABLE ROW LEVEL SECURITY;

-- With the owner's rights: no caller reads the notifications of others. Only their ids, for readers of delivery logs.
CREATE FUNCTION notifications_of_order(wanted_order_id uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE ROWS 20 SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT found.id FROM (
        SELECT id FROM notifications WHERE subject ->> 'orderId' = wanted_order_id::text
        UNION ALL
        SELECT text_id FROM pin_watches WHERE order_id = wanted_order_id AND text_id IS NOT NULL
    ) AS found
    WHERE app_may('delivery_logs:read') OR app_may('notifications:resend')
$$;
REVOKE EXECUTE ON FUNCTION notifications_of_order FROM public;
GRANT EXECUTE ON FUNCTION notifications_of_order TO campus_notifications_api;

-- With the owner's rights: a caller reads no summaries. A caller who sees an order's id may see its number.
CREATE FUNCTION number_of_order(searched_order_id uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT number FROM order_summaries WHERE order_id = searched_order_id
$$;
REVOKE EXECUTE ON FUNCTION number_of_order FROM public;
GRANT EXECUTE ON FUNCTION number_of_order TO campus_notifications_api, campus_notifications_service;

ALTER TABLE dead_letter_webhooks ENABLE ROW LEVEL SECURITY;
