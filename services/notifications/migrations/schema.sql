-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to campus_notifications_owner. PostgreSQL 15 wrote the expressions.

CREATE OR REPLACE FUNCTION public.app_campus_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.campus_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_may(permission text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$ SELECT permission = ANY (string_to_array(current_setting('app.permissions', true), ',')) $function$;

CREATE OR REPLACE FUNCTION public.app_user_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.app_vendor_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$ SELECT nullif(current_setting('app.vendor_id', true), '')::uuid $function$;

CREATE OR REPLACE FUNCTION public.new_ticket_number()
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE drawn bytea; symbols text;
BEGIN
    LOOP
        drawn := uuid_send(gen_random_uuid());
        -- Bytes 6 and 8 of a random UUID hold its version and its variant.
        SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(drawn, place) % 32 + 1, 1), '')
        INTO symbols FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 9, 10]) AS place;
        symbols := 'CT-' || substr(symbols, 1, 4) || '-' || substr(symbols, 5);
        EXIT WHEN NOT EXISTS (SELECT FROM support_tickets WHERE number = symbols);
    END LOOP;
    RETURN symbols;
END $function$;
REVOKE EXECUTE ON FUNCTION new_ticket_number FROM public;
GRANT EXECUTE ON FUNCTION new_ticket_number TO campus_notifications_api;
GRANT EXECUTE ON FUNCTION new_ticket_number TO campus_notifications_service;

CREATE OR REPLACE FUNCTION public.notification_delivery_logs_turn_months(ahead_until timestamp with time zone, gone_before timestamp with time zone, OUT made integer, OUT dropped integer, OUT astray bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '500ms'
AS $function$
DECLARE
    gone text[];
    begins timestamptz;
    ends timestamptz;
    name text;
BEGIN
    made := 0;
    dropped := 0;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('notification_delivery_logs_turn_months', 0)) THEN
        RETURN;
    END IF;
    DELETE FROM notification_delivery_logs_rest WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM notification_delivery_logs_rest WHERE attempted_at < gone_before LIMIT 1000)
    );
    SELECT count(*) INTO astray FROM (SELECT FROM notification_delivery_logs_rest LIMIT 10000) AS rest;
    SELECT greatest(max(month.ends), date_trunc('month', gone_before, 'UTC')),
        array_agg(month.name) FILTER (WHERE month.ends <= gone_before)
    INTO begins, gone
    FROM (
        SELECT c.relname::text AS name,
            (regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$TO \('([^']+)'\)$re$))[1]::timestamptz AS ends
        FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'notification_delivery_logs'::regclass
    ) AS month;
    IF begins > ahead_until AND gone IS NULL THEN
        RETURN;
    END IF;
    BEGIN
        LOCK TABLE notification_delivery_logs, notification_deliveries IN ACCESS EXCLUSIVE MODE;
        FOREACH name IN ARRAY coalesce(gone, '{}') LOOP
            EXECUTE format('DROP TABLE %I', name);
            dropped := dropped + 1;
        END LOOP;
        WHILE begins <= ahead_until AND made < 12 LOOP
            ends := (begins AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
            name := 'notification_delivery_logs_' || to_char(begins AT TIME ZONE 'UTC', 'YYYY_MM');
            EXECUTE format('CREATE TABLE %I (LIKE notification_delivery_logs INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
            EXECUTE format(
                'WITH moved AS (DELETE FROM notification_delivery_logs_rest WHERE attempted_at >= %L AND attempted_at < %L RETURNING *) '
                'INSERT INTO %I SELECT * FROM moved', begins, ends, name
            );
            EXECUTE format('ALTER TABLE notification_delivery_logs ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, begins, ends);
            EXECUTE format('REVOKE ALL ON %I FROM campus_notifications_api, campus_notifications_service', name);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
            made := made + 1;
            begins := ends;
        END LOOP;
    EXCEPTION WHEN lock_not_available THEN
        made := 0;
        dropped := 0;
    END;
END $function$;
REVOKE EXECUTE ON FUNCTION notification_delivery_logs_turn_months FROM public;
GRANT EXECUTE ON FUNCTION notification_delivery_logs_turn_months TO campus_notifications_service;

CREATE OR REPLACE FUNCTION public.notifications_of_order(wanted_order_id uuid)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 20
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT found.id FROM (
        SELECT id FROM notifications WHERE subject ->> 'orderId' = wanted_order_id::text
        UNION ALL
        SELECT text_id FROM pin_watches WHERE order_id = wanted_order_id AND text_id IS NOT NULL
    ) AS found
    WHERE app_may('delivery_logs:read') OR app_may('notifications:resend')
$function$;
REVOKE EXECUTE ON FUNCTION notifications_of_order FROM public;
GRANT EXECUTE ON FUNCTION notifications_of_order TO campus_notifications_api;

CREATE OR REPLACE FUNCTION public.number_of_order(searched_order_id uuid)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
    SELECT number FROM order_summaries WHERE order_id = searched_order_id
$function$;
REVOKE EXECUTE ON FUNCTION number_of_order FROM public;
GRANT EXECUTE ON FUNCTION number_of_order TO campus_notifications_api;
GRANT EXECUTE ON FUNCTION number_of_order TO campus_notifications_service;

CREATE TABLE alert_actions (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    alert_id uuid NOT NULL,
    kind text NOT NULL,
    acted_by uuid,
    assignee_id uuid,
    note text,
    acted_at timestamp with time zone NOT NULL,
    CONSTRAINT alert_actions_pkey PRIMARY KEY ("position"),
    CONSTRAINT alert_actions_alert FOREIGN KEY (alert_id) REFERENCES alerts(id),
    CONSTRAINT alert_actions_by_a_user CHECK (((kind = 'escalated'::text) = (acted_by IS NULL))),
    CONSTRAINT alert_actions_kind_known CHECK ((kind = ANY (ARRAY['acknowledged'::text, 'assigned'::text, 'noted'::text, 'escalated'::text]))),
    CONSTRAINT alert_actions_note_of_noted CHECK (((kind = 'noted'::text) = (note IS NOT NULL)))
);
CREATE INDEX alert_actions_of_alert ON alert_actions USING btree (alert_id, "position");
ALTER TABLE alert_actions ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON alert_actions TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_actions TO campus_notifications_service;
CREATE POLICY alert_actions_for_staff ON alert_actions FOR SELECT
    USING ((EXISTS ( SELECT
   FROM alerts a
  WHERE (a.id = alert_actions.alert_id))));
CREATE POLICY alert_actions_written ON alert_actions FOR INSERT
    WITH CHECK (((acted_by = app_user_id()) AND app_may('alerts:acknowledge'::text) AND (EXISTS ( SELECT
   FROM alerts a
  WHERE (a.id = alert_actions.alert_id)))));

CREATE TABLE alerts (
    id uuid NOT NULL,
    severity text NOT NULL,
    title text NOT NULL,
    detail text NOT NULL,
    subject text,
    runbook text NOT NULL,
    dedup_key text NOT NULL,
    source text NOT NULL,
    repetitions integer DEFAULT 0 NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    last_raised_at timestamp with time zone NOT NULL,
    paged_at timestamp with time zone,
    page_error text,
    closed_at timestamp with time zone,
    acknowledged_at timestamp with time zone,
    acknowledged_by uuid,
    assignee_id uuid,
    escalated_at timestamp with time zone,
    closed_by uuid,
    close_reason text,
    CONSTRAINT alerts_pkey PRIMARY KEY (id),
    CONSTRAINT alerts_acknowledged_by_a_user CHECK (((acknowledged_at IS NULL) = (acknowledged_by IS NULL))),
    CONSTRAINT alerts_severity_known CHECK ((severity = ANY (ARRAY['SEV-1'::text, 'SEV-2'::text, 'SEV-3'::text])))
);
CREATE INDEX alerts_closed ON alerts USING btree (closed_at) WHERE (closed_at IS NOT NULL);
CREATE INDEX alerts_newest ON alerts USING btree (raised_at DESC, id DESC);
CREATE INDEX alerts_of_key ON alerts USING btree (dedup_key, closed_at);
CREATE UNIQUE INDEX alerts_open_once ON alerts USING btree (dedup_key) WHERE (closed_at IS NULL);
ALTER TABLE alerts ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (acknowledged_at, acknowledged_by, assignee_id) ON alerts TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON alerts TO campus_notifications_service;
CREATE POLICY alerts_acknowledged ON alerts FOR UPDATE
    USING (app_may('alerts:acknowledge'::text));
CREATE POLICY alerts_for_staff ON alerts FOR SELECT
    USING ((app_may('alerts:read'::text) OR (app_may('money_alerts:read'::text) AND (source = ANY (ARRAY['payments'::text, 'payouts'::text])))));

CREATE TABLE contacts (
    user_id uuid NOT NULL,
    email text NOT NULL,
    phone text,
    full_name text,
    sequence bigint NOT NULL,
    phone_confirmed boolean DEFAULT false NOT NULL,
    staff_roles text[],
    hub_id uuid,
    CONSTRAINT contacts_pkey PRIMARY KEY (user_id)
);
CREATE INDEX contacts_of_hub ON contacts USING btree (hub_id, user_id) WHERE (hub_id IS NOT NULL);
CREATE INDEX contacts_of_phone ON contacts USING btree (phone) WHERE (phone IS NOT NULL);
CREATE INDEX contacts_of_staff ON contacts USING btree (user_id) WHERE (staff_roles <> '{}'::text[]);
GRANT SELECT, INSERT, UPDATE, DELETE ON contacts TO campus_notifications_service;

CREATE TABLE conversation_messages (
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    position integer NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    provider text,
    prompt_tokens integer,
    completion_tokens integer,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT conversation_messages_pkey PRIMARY KEY (id),
    CONSTRAINT conversation_messages_place UNIQUE (conversation_id, "position"),
    CONSTRAINT conversation_messages_conversation FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE,
    CONSTRAINT conversation_messages_provider_of_replies CHECK (((role = 'assistant'::text) = (provider IS NOT NULL))),
    CONSTRAINT conversation_messages_role_known CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text])))
);
ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON conversation_messages TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversation_messages TO campus_notifications_service;
CREATE POLICY conversation_messages_of_their_user ON conversation_messages FOR ALL
    USING ((user_id = app_user_id()))
    WITH CHECK (((user_id = app_user_id()) AND (EXISTS ( SELECT
   FROM conversations c
  WHERE (c.id = conversation_messages.conversation_id)))));

CREATE TABLE conversation_turns (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT conversation_turns_pkey PRIMARY KEY (id),
    CONSTRAINT conversation_turns_one_at_a_time UNIQUE (conversation_id)
);
CREATE INDEX conversation_turns_of_user ON conversation_turns USING btree (user_id);
ALTER TABLE conversation_turns ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON conversation_turns TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversation_turns TO campus_notifications_service;
CREATE POLICY conversation_turns_of_their_user ON conversation_turns FOR ALL
    USING ((user_id = app_user_id()));

CREATE TABLE conversations (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    title text NOT NULL,
    message_count integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_message_at timestamp with time zone NOT NULL,
    CONSTRAINT conversations_pkey PRIMARY KEY (id)
);
CREATE INDEX conversations_of_user ON conversations USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX conversations_silent ON conversations USING btree (last_message_at);
ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversations TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversations TO campus_notifications_service;
CREATE POLICY conversations_of_their_user ON conversations FOR ALL
    USING ((user_id = app_user_id()));

CREATE TABLE dead_letter_actions (
    dead_letter_id uuid NOT NULL,
    action text NOT NULL,
    queue text NOT NULL,
    event_type text NOT NULL,
    acted_by uuid NOT NULL,
    reason text,
    acted_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dead_letter_actions_pkey PRIMARY KEY (dead_letter_id, action),
    CONSTRAINT dead_letter_actions_known CHECK ((action = ANY (ARRAY['replayed'::text, 'closure_requested'::text]))),
    CONSTRAINT dead_letter_actions_request_has_its_reason CHECK (((reason IS NULL) = (action = 'replayed'::text)))
);
CREATE INDEX dead_letter_actions_of_staff ON dead_letter_actions USING btree (acted_by, acted_at);
GRANT SELECT, INSERT ON dead_letter_actions TO campus_notifications_service;

CREATE TABLE dead_letter_closures (
    dead_letter_id uuid NOT NULL,
    queue text NOT NULL,
    event_type text NOT NULL,
    closed_by uuid NOT NULL,
    reason text NOT NULL,
    closed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT dead_letter_closures_pkey PRIMARY KEY (dead_letter_id)
);
CREATE INDEX dead_letter_closures_of_staff ON dead_letter_closures USING btree (closed_by, closed_at);
GRANT SELECT, INSERT ON dead_letter_closures TO campus_notifications_service;

CREATE TABLE dead_letter_webhooks (
    id uuid NOT NULL,
    event_id text NOT NULL,
    event_type text NOT NULL,
    provider text NOT NULL,
    payload jsonb NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    replayed_at timestamp with time zone,
    closed_at timestamp with time zone,
    resolved_at timestamp with time zone GENERATED ALWAYS AS (COALESCE(replayed_at, closed_at)) STORED,
    CONSTRAINT dead_letter_webhooks_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letter_webhooks_provider_known CHECK ((provider = 'messaging_app'::text)),
    CONSTRAINT dead_letter_webhooks_resolved_once CHECK ((num_nulls(replayed_at, closed_at) > 0))
);
CREATE INDEX dead_letter_webhooks_newest ON dead_letter_webhooks USING btree (failed_at, id);
CREATE INDEX dead_letter_webhooks_of_event ON dead_letter_webhooks USING btree (event_id);
ALTER TABLE dead_letter_webhooks ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letter_webhooks TO campus_notifications_service;

CREATE TABLE dead_letters (
    id uuid NOT NULL,
    queue text NOT NULL,
    event_id uuid,
    event_type text NOT NULL,
    body bytea NOT NULL,
    headers jsonb NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamp with time zone DEFAULT now() NOT NULL,
    replayed_at timestamp with time zone,
    closed_at timestamp with time zone,
    resolved_at timestamp with time zone GENERATED ALWAYS AS (COALESCE(replayed_at, closed_at)) STORED,
    CONSTRAINT dead_letters_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letters_resolved_once CHECK ((num_nulls(replayed_at, closed_at) > 0))
);
CREATE INDEX dead_letters_newest ON dead_letters USING btree (failed_at DESC, id DESC);
CREATE INDEX dead_letters_of_event ON dead_letters USING btree (event_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO campus_notifications_service;

CREATE TABLE drills (
    id uuid NOT NULL,
    name text NOT NULL,
    runbook text NOT NULL,
    severity text NOT NULL,
    started_by uuid NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone,
    acknowledged_at timestamp with time zone,
    cleared_at timestamp with time zone,
    ended_at timestamp with time zone,
    runbook_steps integer[] DEFAULT '{}'::integer[] NOT NULL,
    CONSTRAINT drills_pkey PRIMARY KEY (id),
    CONSTRAINT drills_measured_at_their_end CHECK (((ended_at IS NOT NULL) OR ((seen_at IS NULL) AND (acknowledged_at IS NULL) AND (cleared_at IS NULL)))),
    CONSTRAINT drills_seen_first CHECK (((seen_at IS NOT NULL) OR ((acknowledged_at IS NULL) AND (cleared_at IS NULL)))),
    CONSTRAINT drills_severity_known CHECK ((severity = ANY (ARRAY['SEV-1'::text, 'SEV-2'::text, 'SEV-3'::text])))
);
CREATE INDEX drills_newest ON drills USING btree (started_at DESC, id DESC);
CREATE UNIQUE INDEX drills_one_at_a_time ON drills USING btree (((ended_at IS NULL))) WHERE (ended_at IS NULL);
ALTER TABLE drills ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (seen_at, acknowledged_at, cleared_at, ended_at, runbook_steps) ON drills TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON drills TO campus_notifications_service;
CREATE POLICY drills_ended ON drills FOR UPDATE
    USING (app_may('operations:stop'::text));
CREATE POLICY drills_for_staff ON drills FOR SELECT
    USING (app_may('alerts:read'::text));
CREATE POLICY drills_started ON drills FOR INSERT
    WITH CHECK (((started_by = app_user_id()) AND app_may('operations:stop'::text)));

CREATE TABLE feeds (
    user_id uuid NOT NULL,
    last bigint NOT NULL,
    streamed_until timestamp with time zone,
    CONSTRAINT feeds_pkey PRIMARY KEY (user_id)
);
ALTER TABLE feeds ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON feeds TO campus_notifications_service;

CREATE TABLE hash_keys (
    name text NOT NULL,
    key_encrypted text NOT NULL,
    CONSTRAINT hash_keys_pkey PRIMARY KEY (name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON hash_keys TO campus_notifications_service;

CREATE TABLE inbox (
    event_id uuid NOT NULL,
    consumer text NOT NULL,
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
);
CREATE INDEX inbox_handled ON inbox USING btree (handled_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox TO campus_notifications_service;

CREATE TABLE leaving_pictures (
    picture_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    leave_at timestamp with time zone NOT NULL,
    claimed_until timestamp with time zone,
    CONSTRAINT leaving_pictures_pkey PRIMARY KEY (picture_id)
);
CREATE INDEX leaving_pictures_due ON leaving_pictures USING btree (leave_at);
ALTER TABLE leaving_pictures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_notifications_service;
CREATE POLICY leaving_pictures_own ON leaving_pictures FOR ALL
    USING ((EXISTS ( SELECT
   FROM support_tickets own
  WHERE (own.id = leaving_pictures.owner_id))));

CREATE TABLE messaging_items (
    id text NOT NULL,
    webhook_id text,
    kind text NOT NULL,
    content jsonb NOT NULL,
    outcome text NOT NULL,
    ticket_id uuid,
    received_at timestamp with time zone NOT NULL,
    CONSTRAINT messaging_items_pkey PRIMARY KEY (id),
    CONSTRAINT messaging_items_webhook FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events(id) ON DELETE SET NULL,
    CONSTRAINT messaging_items_kind_known CHECK ((kind = ANY (ARRAY['message'::text, 'status'::text]))),
    CONSTRAINT messaging_items_outcome_known CHECK ((outcome = ANY (ARRAY['queued'::text, 'done'::text, 'ignored'::text, 'dead'::text])))
);
CREATE INDEX messaging_items_of_ticket ON messaging_items USING btree (ticket_id) WHERE (ticket_id IS NOT NULL);
CREATE INDEX messaging_items_of_webhook ON messaging_items USING btree (webhook_id);
CREATE INDEX messaging_items_statuses ON messaging_items USING btree (received_at) WHERE (kind = 'status'::text);
ALTER TABLE messaging_items ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON messaging_items TO campus_notifications_service;

CREATE TABLE notification_deliveries (
    id uuid NOT NULL,
    notification_id uuid NOT NULL,
    channel text NOT NULL,
    recipient text NOT NULL,
    template text NOT NULL,
    payload jsonb NOT NULL,
    sealed jsonb NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    claim_id uuid,
    claimed_at timestamp with time zone,
    provider_message_id text,
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    is_urgent boolean DEFAULT false NOT NULL,
    traceparent text,
    CONSTRAINT notification_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT notification_deliveries_once UNIQUE (notification_id, channel, recipient),
    CONSTRAINT notification_deliveries_notification FOREIGN KEY (notification_id) REFERENCES notifications(id),
    CONSTRAINT notification_deliveries_channel_known CHECK ((channel = ANY (ARRAY['push'::text, 'messaging'::text, 'sms'::text, 'email'::text]))),
    CONSTRAINT notification_deliveries_claim_whole CHECK (((claim_id IS NULL) = (claimed_at IS NULL))),
    CONSTRAINT notification_deliveries_status_known CHECK ((status = ANY (ARRAY['queued'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'bounced'::text])))
);
CREATE INDEX notification_deliveries_claimed ON notification_deliveries USING btree (claimed_at) WHERE (claimed_at IS NOT NULL);
CREATE INDEX notification_deliveries_due ON notification_deliveries USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX notification_deliveries_oldest ON notification_deliveries USING btree (created_at);
CREATE INDEX notification_deliveries_queue ON notification_deliveries USING btree (channel, is_urgent DESC, due_at) WHERE (due_at IS NOT NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_deliveries TO campus_notifications_service;

CREATE TABLE notification_delivery_logs (
    id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    notification_id uuid NOT NULL,
    user_id uuid,
    channel text NOT NULL,
    template text NOT NULL,
    recipient text NOT NULL,
    status text NOT NULL,
    provider text,
    provider_message_id text,
    error text,
    attempted_at timestamp with time zone NOT NULL,
    told_at timestamp with time zone,
    CONSTRAINT notification_delivery_logs_pkey PRIMARY KEY (id, attempted_at),
    CONSTRAINT notification_delivery_logs_delivery FOREIGN KEY (delivery_id) REFERENCES notification_deliveries(id),
    CONSTRAINT notification_delivery_logs_status_known CHECK ((status = ANY (ARRAY['sending'::text, 'unknown'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'bounced'::text])))
) PARTITION BY RANGE (attempted_at);
CREATE INDEX notification_delivery_logs_newest ON notification_delivery_logs USING btree (attempted_at DESC, id DESC);
CREATE INDEX notification_delivery_logs_of_delivery ON notification_delivery_logs USING btree (delivery_id);
CREATE INDEX notification_delivery_logs_of_notification ON notification_delivery_logs USING btree (notification_id);
CREATE INDEX notification_delivery_logs_of_user ON notification_delivery_logs USING btree (user_id, attempted_at);
CREATE INDEX notification_delivery_logs_told_of ON notification_delivery_logs USING btree (channel, provider_message_id) WHERE (provider_message_id IS NOT NULL);
ALTER TABLE notification_delivery_logs ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON notification_delivery_logs TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_delivery_logs TO campus_notifications_service;
CREATE POLICY notification_delivery_logs_for_staff ON notification_delivery_logs FOR SELECT
    USING ((app_may('delivery_logs:read'::text) OR app_may('notifications:resend'::text)));

CREATE TABLE notification_preferences (
    user_id uuid NOT NULL,
    channels jsonb NOT NULL,
    quiet_from time without time zone,
    quiet_to time without time zone,
    timezone text NOT NULL,
    locale text NOT NULL,
    revision integer NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    optional_mail boolean DEFAULT true NOT NULL,
    CONSTRAINT notification_preferences_pkey PRIMARY KEY (user_id),
    CONSTRAINT notification_preferences_quiet_whole CHECK (((quiet_from IS NULL) = (quiet_to IS NULL)))
);
ALTER TABLE notification_preferences ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON notification_preferences TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_preferences TO campus_notifications_service;
CREATE POLICY notification_preferences_of_their_user ON notification_preferences FOR ALL
    USING ((user_id = app_user_id()));

CREATE TABLE notification_resends (
    id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    log_id uuid NOT NULL,
    asked_by uuid NOT NULL,
    idempotency_key text,
    asked_at timestamp with time zone NOT NULL,
    CONSTRAINT notification_resends_pkey PRIMARY KEY (id),
    CONSTRAINT notification_resends_once UNIQUE (asked_by, idempotency_key),
    CONSTRAINT notification_resends_delivery FOREIGN KEY (delivery_id) REFERENCES notification_deliveries(id)
);
CREATE INDEX notification_resends_of_delivery ON notification_resends USING btree (delivery_id);
ALTER TABLE notification_resends ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON notification_resends TO campus_notifications_service;

CREATE TABLE notifications (
    id uuid NOT NULL,
    user_id uuid,
    template text NOT NULL,
    title text,
    body text,
    created_at timestamp with time zone NOT NULL,
    read_at timestamp with time zone,
    place bigint,
    subject jsonb,
    CONSTRAINT notifications_pkey PRIMARY KEY (id),
    CONSTRAINT notifications_place_in_feed CHECK (((title IS NULL) = (place IS NULL)))
);
CREATE INDEX notifications_feed ON notifications USING btree (user_id, created_at DESC, id DESC) WHERE (title IS NOT NULL);
CREATE INDEX notifications_of_order ON notifications USING btree (((subject ->> 'orderId'::text))) WHERE ((subject ->> 'orderId'::text) IS NOT NULL);
CREATE INDEX notifications_oldest ON notifications USING btree (created_at);
CREATE UNIQUE INDEX notifications_places ON notifications USING btree (user_id, place) WHERE (place IS NOT NULL);
CREATE INDEX notifications_unread ON notifications USING btree (user_id, created_at DESC, id DESC) WHERE ((title IS NOT NULL) AND (read_at IS NULL));
ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (read_at) ON notifications TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO campus_notifications_service;
CREATE POLICY notifications_of_their_user ON notifications FOR ALL
    USING ((user_id = app_user_id()));

CREATE TABLE order_summaries (
    order_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    total_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    items jsonb NOT NULL,
    buyer_id uuid,
    payment_under_review boolean DEFAULT false NOT NULL,
    number text,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT order_summaries_pkey PRIMARY KEY (order_id)
);
CREATE INDEX order_summaries_oldest ON order_summaries USING btree (recorded_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON order_summaries TO campus_notifications_service;

CREATE TABLE outbox (
    position bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    id uuid NOT NULL,
    queue text,
    type text NOT NULL,
    source text NOT NULL,
    subject text NOT NULL,
    sequence bigint NOT NULL,
    payload bytea NOT NULL,
    trace jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    CONSTRAINT outbox_pkey PRIMARY KEY ("position")
);
CREATE INDEX outbox_published ON outbox USING btree (published_at) WHERE (published_at IS NOT NULL);
CREATE INDEX outbox_waiting ON outbox USING btree ("position") WHERE (published_at IS NULL);
GRANT INSERT ON outbox TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO campus_notifications_service;

CREATE TABLE outbox_sequences (
    subject text NOT NULL,
    last bigint NOT NULL,
    used_at timestamp with time zone DEFAULT date_trunc('day'::text, now()) NOT NULL,
    CONSTRAINT outbox_sequences_pkey PRIMARY KEY (subject)
);
CREATE INDEX outbox_sequences_idle ON outbox_sequences USING btree (used_at);
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_sequences TO campus_notifications_service;

CREATE TABLE pin_watches (
    notification_id uuid NOT NULL,
    order_id uuid,
    issue integer NOT NULL,
    channel text NOT NULL,
    due_at timestamp with time zone,
    is_over boolean DEFAULT false NOT NULL,
    text_id uuid,
    CONSTRAINT pin_watches_pkey PRIMARY KEY (notification_id)
);
CREATE INDEX pin_watches_due ON pin_watches USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX pin_watches_of_order ON pin_watches USING btree (order_id);
ALTER TABLE pin_watches ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON pin_watches TO campus_notifications_service;

CREATE TABLE processed_webhook_events (
    id text NOT NULL,
    provider text NOT NULL,
    event_type text NOT NULL,
    payload jsonb NOT NULL,
    raw bytea NOT NULL,
    outcome text NOT NULL,
    processed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT processed_webhook_events_pkey PRIMARY KEY (id),
    CONSTRAINT processed_webhook_events_outcome_known CHECK ((outcome = ANY (ARRAY['queued'::text, 'done'::text, 'ignored'::text, 'dead'::text])))
);
CREATE INDEX processed_webhook_events_oldest ON processed_webhook_events USING btree (processed_at);
ALTER TABLE processed_webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON processed_webhook_events TO campus_notifications_service;

CREATE TABLE provider_pauses (
    provider text NOT NULL,
    reason text NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    probe_at timestamp with time zone NOT NULL,
    CONSTRAINT provider_pauses_pkey PRIMARY KEY (provider)
);
ALTER TABLE provider_pauses ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON provider_pauses TO campus_notifications_service;

CREATE TABLE session_revocations (
    user_id uuid NOT NULL,
    session_id uuid,
    not_before timestamp with time zone NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX session_revocations_heard ON session_revocations USING btree (heard_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_revocations TO campus_notifications_service;

CREATE TABLE shop_members (
    user_id uuid NOT NULL,
    vendor_id uuid NOT NULL,
    role text,
    sequence bigint NOT NULL,
    CONSTRAINT shop_members_pkey PRIMARY KEY (user_id),
    CONSTRAINT shop_members_role_known CHECK ((role = ANY (ARRAY['manager'::text, 'packer'::text])))
);
CREATE INDEX shop_members_of_vendor ON shop_members USING btree (vendor_id, user_id) WHERE (role IS NOT NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON shop_members TO campus_notifications_service;

CREATE TABLE support_attachments (
    id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    author text NOT NULL,
    author_id uuid NOT NULL,
    byte_count integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT support_attachments_pkey PRIMARY KEY (id),
    CONSTRAINT support_attachments_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets(id),
    CONSTRAINT support_attachments_author_known CHECK ((author = ANY (ARRAY['customer'::text, 'staff'::text])))
);
CREATE INDEX support_attachments_of_ticket ON support_attachments USING btree (ticket_id, created_at, id);
ALTER TABLE support_attachments ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON support_attachments TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON support_attachments TO campus_notifications_service;
CREATE POLICY support_attachments_seen ON support_attachments FOR SELECT
    USING ((EXISTS ( SELECT
   FROM support_tickets t
  WHERE (t.id = support_attachments.ticket_id))));
CREATE POLICY support_attachments_written ON support_attachments FOR INSERT
    WITH CHECK (((author_id = app_user_id()) AND (EXISTS ( SELECT
   FROM support_tickets t
  WHERE ((t.id = support_attachments.ticket_id) AND
        CASE support_attachments.author
            WHEN 'customer'::text THEN (t.user_id = app_user_id())
            ELSE app_may('tickets:manage'::text)
        END)))));

CREATE TABLE support_messages (
    id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    author text NOT NULL,
    author_id uuid,
    source text NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT support_messages_pkey PRIMARY KEY (id),
    CONSTRAINT support_messages_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets(id),
    CONSTRAINT support_messages_author_known CHECK ((author = ANY (ARRAY['customer'::text, 'staff'::text]))),
    CONSTRAINT support_messages_source_known CHECK ((source = ANY (ARRAY['app'::text, 'messaging'::text])))
);
CREATE INDEX support_messages_of_ticket ON support_messages USING btree (ticket_id, created_at, id);
ALTER TABLE support_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON support_messages TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON support_messages TO campus_notifications_service;
CREATE POLICY support_messages_seen ON support_messages FOR SELECT
    USING ((EXISTS ( SELECT
   FROM support_tickets t
  WHERE (t.id = support_messages.ticket_id))));
CREATE POLICY support_messages_written ON support_messages FOR INSERT
    WITH CHECK (((author_id = app_user_id()) AND (EXISTS ( SELECT
   FROM support_tickets t
  WHERE ((t.id = support_messages.ticket_id) AND
        CASE support_messages.author
            WHEN 'customer'::text THEN (t.user_id = app_user_id())
            ELSE app_may('tickets:manage'::text)
        END)))));

CREATE TABLE support_notes (
    id uuid NOT NULL,
    ticket_id uuid NOT NULL,
    author_id uuid NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT support_notes_pkey PRIMARY KEY (id),
    CONSTRAINT support_notes_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets(id)
);
CREATE INDEX support_notes_of_ticket ON support_notes USING btree (ticket_id, created_at, id);
ALTER TABLE support_notes ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON support_notes TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON support_notes TO campus_notifications_service;
CREATE POLICY support_notes_for_staff ON support_notes FOR SELECT
    USING (((app_may('tickets:manage'::text) OR app_may('tickets:read'::text)) AND (EXISTS ( SELECT
   FROM support_tickets t
  WHERE ((t.id = support_notes.ticket_id) AND (t.user_id IS DISTINCT FROM app_user_id()))))));
CREATE POLICY support_notes_written ON support_notes FOR INSERT
    WITH CHECK (((author_id = app_user_id()) AND app_may('tickets:manage'::text) AND (EXISTS ( SELECT
   FROM support_tickets t
  WHERE ((t.id = support_notes.ticket_id) AND (t.user_id IS DISTINCT FROM app_user_id()))))));

CREATE TABLE support_tickets (
    id uuid NOT NULL,
    user_id uuid,
    source text NOT NULL,
    subject text NOT NULL,
    order_id uuid,
    status text NOT NULL,
    priority text NOT NULL,
    assignee_id uuid,
    revision integer NOT NULL,
    unread_by_customer integer DEFAULT 0 NOT NULL,
    unread_by_staff integer DEFAULT 0 NOT NULL,
    phone_key text,
    phone_sealed text,
    phone_masked text,
    heard_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    app_user_key text,
    number text DEFAULT new_ticket_number(),
    CONSTRAINT support_tickets_pkey PRIMARY KEY (id),
    CONSTRAINT support_tickets_closed_whole CHECK (((status = 'closed'::text) = (closed_at IS NOT NULL))),
    CONSTRAINT support_tickets_number_form CHECK (((number IS NOT NULL) AND (number ~ '^CT(-[0-9A-HJKMNP-TV-Z]{4}){2}$'::text))),
    CONSTRAINT support_tickets_priority_known CHECK ((priority = ANY (ARRAY['low'::text, 'normal'::text, 'high'::text, 'urgent'::text]))),
    CONSTRAINT support_tickets_source_known CHECK ((source = ANY (ARRAY['app'::text, 'messaging'::text]))),
    CONSTRAINT support_tickets_status_known CHECK ((status = ANY (ARRAY['open'::text, 'pending'::text, 'closed'::text])))
);
CREATE INDEX support_tickets_newest ON support_tickets USING btree (created_at DESC, id DESC);
CREATE UNIQUE INDEX support_tickets_number_once ON support_tickets USING btree (number);
CREATE INDEX support_tickets_of_phone ON support_tickets USING btree (phone_key) WHERE (phone_key IS NOT NULL);
CREATE INDEX support_tickets_of_user ON support_tickets USING btree (user_id, created_at DESC, id DESC);
CREATE INDEX support_tickets_open ON support_tickets USING btree (updated_at, id) WHERE (status = 'open'::text);
ALTER TABLE support_tickets ENABLE ROW LEVEL SECURITY;
GRANT SELECT (id, user_id, source, subject, order_id, status, priority, assignee_id, revision, unread_by_customer, unread_by_staff, phone_masked, heard_at, created_at, updated_at, closed_at, number), INSERT (id, user_id, source, subject, order_id, status, priority, revision, unread_by_staff, created_at, updated_at), UPDATE (status, priority, assignee_id, revision, unread_by_customer, unread_by_staff, updated_at, closed_at) ON support_tickets TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON support_tickets TO campus_notifications_service;
CREATE POLICY support_tickets_changed ON support_tickets FOR UPDATE
    USING (((user_id = app_user_id()) OR app_may('tickets:manage'::text)));
CREATE POLICY support_tickets_opened ON support_tickets FOR INSERT
    WITH CHECK (((user_id = app_user_id()) AND (source = 'app'::text)));
CREATE POLICY support_tickets_seen ON support_tickets FOR SELECT
    USING (((user_id = app_user_id()) OR app_may('tickets:manage'::text) OR app_may('tickets:read'::text)));

CREATE TABLE user_devices (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    address text NOT NULL,
    public_key text,
    auth_secret text,
    created_at timestamp with time zone NOT NULL,
    registered_at timestamp with time zone NOT NULL,
    CONSTRAINT user_devices_pkey PRIMARY KEY (id),
    CONSTRAINT user_devices_address UNIQUE (address),
    CONSTRAINT user_devices_keys_of_web CHECK ((((kind = 'web'::text) = (public_key IS NOT NULL)) AND ((kind = 'web'::text) = (auth_secret IS NOT NULL)))),
    CONSTRAINT user_devices_kind_known CHECK ((kind = ANY (ARRAY['web'::text, 'android'::text, 'ios'::text])))
);
CREATE INDEX user_devices_of_user ON user_devices USING btree (user_id, created_at);
ALTER TABLE user_devices ENABLE ROW LEVEL SECURITY;
GRANT SELECT, DELETE ON user_devices TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON user_devices TO campus_notifications_service;
CREATE POLICY user_devices_of_their_user ON user_devices FOR ALL
    USING ((user_id = app_user_id()));

CREATE TABLE vendors (
    vendor_id uuid NOT NULL,
    owner_user_id uuid NOT NULL,
    business_name text NOT NULL,
    sequence bigint NOT NULL,
    CONSTRAINT vendors_pkey PRIMARY KEY (vendor_id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON vendors TO campus_notifications_service;

CREATE TABLE webhook_deliveries (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone,
    response_status integer,
    response_excerpt text,
    error text,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_deliveries_endpoint FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_event FOREIGN KEY (event_id) REFERENCES webhook_events(id),
    CONSTRAINT webhook_deliveries_end_of_others CHECK (((status = 'pending'::text) = (finished_at IS NULL))),
    CONSTRAINT webhook_deliveries_next_of_pending CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries USING btree (event_id);
CREATE UNIQUE INDEX webhook_deliveries_pending_once ON webhook_deliveries USING btree (event_id, endpoint_id) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_queue ON webhook_deliveries USING btree (endpoint_id, next_attempt_at) WHERE (status = 'pending'::text);
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON webhook_deliveries TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries TO campus_notifications_service;
CREATE POLICY webhook_deliveries_of_their_owner ON webhook_deliveries FOR ALL
    USING ((EXISTS ( SELECT
   FROM webhook_endpoints
  WHERE (webhook_endpoints.id = webhook_deliveries.endpoint_id))))
    WITH CHECK ((EXISTS ( SELECT
   FROM (webhook_endpoints endpoint
     JOIN webhook_events event ON ((event.id = webhook_deliveries.event_id)))
  WHERE ((endpoint.id = webhook_deliveries.endpoint_id) AND ((endpoint.vendor_id IS NULL) OR (endpoint.vendor_id = event.vendor_id))))));

CREATE TABLE webhook_endpoints (
    id uuid NOT NULL,
    vendor_id uuid,
    url text NOT NULL,
    event_types text[] NOT NULL,
    description text NOT NULL,
    status text NOT NULL,
    disabled_reason text,
    failing_since timestamp with time zone,
    secret_sealed text NOT NULL,
    previous_secret_sealed text,
    previous_secret_until timestamp with time zone,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_endpoints_previous_whole CHECK (((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))),
    CONSTRAINT webhook_endpoints_reason_of_disabled CHECK ((((status = 'disabled'::text) = (disabled_reason IS NOT NULL)) AND (disabled_reason = ANY (ARRAY['owner'::text, 'gone'::text, 'failing'::text])))),
    CONSTRAINT webhook_endpoints_status_known CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])))
);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints USING btree (created_at DESC, id DESC);
CREATE INDEX webhook_endpoints_of_vendor ON webhook_endpoints USING btree (vendor_id);
ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_endpoints TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_endpoints TO campus_notifications_service;
CREATE POLICY webhook_endpoints_of_their_owner ON webhook_endpoints FOR ALL
    USING ((app_may('webhooks:manage'::text) OR (app_may('webhooks:own'::text) AND (vendor_id = app_vendor_id()))));

CREATE TABLE webhook_events (
    id uuid NOT NULL,
    type text NOT NULL,
    vendor_id uuid,
    occurred_at timestamp with time zone NOT NULL,
    data jsonb NOT NULL,
    traceparent text,
    recorded_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_events_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_events_of_vendor ON webhook_events USING btree (vendor_id, recorded_at);
CREATE INDEX webhook_events_oldest ON webhook_events USING btree (recorded_at);
ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON webhook_events TO campus_notifications_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_events TO campus_notifications_service;
CREATE POLICY webhook_events_of_their_owner ON webhook_events FOR ALL
    USING ((app_may('webhooks:manage'::text) OR (app_may('webhooks:own'::text) AND (vendor_id = app_vendor_id()))));
