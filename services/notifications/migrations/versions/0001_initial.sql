-- The notifications service's schema, one block for each table: the table, its indexes, row security, grants, policies
-- and triggers. A `..._sealed` column is encrypted.

-- ---------------------------------------------------------------------------------------------------------------------
-- Projections of other services' events
-- ---------------------------------------------------------------------------------------------------------------------

-- Projected from identity; `sequence` is the publisher's, so that a late event never overwrites a newer one.
CREATE TABLE contacts (
    user_id uuid PRIMARY KEY,
    email text NOT NULL,
    phone text,
    full_name text,
    sequence bigint NOT NULL,
    phone_confirmed boolean NOT NULL DEFAULT false,
    staff_roles text[]
);
-- Finds the user whose telephone sent a message.
CREATE INDEX contacts_of_phone ON contacts (phone) WHERE phone IS NOT NULL;

CREATE TABLE vendors (
    vendor_id uuid PRIMARY KEY,
    owner_user_id uuid NOT NULL,
    business_name text NOT NULL,
    sequence bigint NOT NULL
);

-- `payment_under_review`: the payment is in quarantine, so that no notice claims the buyer did not pay.
CREATE TABLE order_summaries (
    order_id uuid PRIMARY KEY,
    vendor_id uuid NOT NULL,
    total_minor bigint NOT NULL,
    delivery_fee_minor bigint NOT NULL,
    items jsonb NOT NULL,
    buyer_id uuid,
    payment_under_review boolean NOT NULL DEFAULT false
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Notifications and deliveries
-- ---------------------------------------------------------------------------------------------------------------------

-- The last place given in a user's feed. Its row is locked until the line is committed, so that lines appear in the
-- order of their places: a reader up to one place has missed nothing before it.
CREATE TABLE feeds (
    user_id uuid PRIMARY KEY,
    last bigint NOT NULL
);
ALTER TABLE feeds ENABLE ROW LEVEL SECURITY;

-- One message to one user, as the app shows it; without a title it is not shown (a one-time code).
CREATE TABLE notifications (
    id uuid PRIMARY KEY,
    user_id uuid,
    template text NOT NULL,
    title text,
    body text,
    created_at timestamptz NOT NULL,
    read_at timestamptz,
    place bigint,
    CONSTRAINT notifications_place_in_feed CHECK ((title IS NULL) = (place IS NULL))
);
CREATE INDEX notifications_feed ON notifications (user_id, created_at DESC, id DESC) WHERE title IS NOT NULL;
CREATE UNIQUE INDEX notifications_places ON notifications (user_id, place) WHERE place IS NOT NULL;
CREATE INDEX notifications_unread
    ON notifications (user_id, created_at DESC, id DESC)
    WHERE title IS NOT NULL AND read_at IS NULL;
CREATE INDEX notifications_oldest ON notifications (created_at);
ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
GRANT SELECT, UPDATE (read_at) ON notifications TO campus_notifications_api;
CREATE POLICY notifications_of_their_user ON notifications USING (user_id = app_user_id());

-- One message by one channel. `payload` holds no secret; `sealed` holds the secrets, encrypted. `due_at`: not before
-- this time (quiet hours, or a provider that rests).
CREATE TABLE notification_deliveries (
    id uuid PRIMARY KEY,
    notification_id uuid NOT NULL,
    channel text NOT NULL,
    recipient text NOT NULL,
    template text NOT NULL,
    payload jsonb NOT NULL,
    sealed jsonb NOT NULL,
    status text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    claim_id uuid,
    claimed_at timestamptz,
    provider_message_id text,
    created_at timestamptz NOT NULL,
    due_at timestamptz,
    CONSTRAINT notification_deliveries_notification FOREIGN KEY (notification_id) REFERENCES notifications (id),
    CONSTRAINT notification_deliveries_once UNIQUE (notification_id, channel, recipient),
    CONSTRAINT notification_deliveries_channel_known CHECK (channel IN ('push', 'messaging', 'sms', 'email')),
    CONSTRAINT notification_deliveries_status_known
        CHECK (status IN ('queued', 'sent', 'delivered', 'read', 'failed', 'bounced')),
    CONSTRAINT notification_deliveries_claim_whole CHECK ((claim_id IS NULL) = (claimed_at IS NULL))
);
CREATE INDEX notification_deliveries_claimed ON notification_deliveries (claimed_at) WHERE claimed_at IS NOT NULL;
CREATE INDEX notification_deliveries_due ON notification_deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notification_deliveries_oldest ON notification_deliveries (created_at);

-- One row for each attempt: `sending` during the provider's call, `unknown` when the worker died in it. Partitioned by
-- month. `told_at` is the provider's time of its last report on the attempt.
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
    attempted_at timestamptz NOT NULL,
    told_at timestamptz,
    CONSTRAINT notification_delivery_logs_pkey PRIMARY KEY (id, attempted_at),
    CONSTRAINT notification_delivery_logs_delivery FOREIGN KEY (delivery_id) REFERENCES notification_deliveries (id),
    CONSTRAINT notification_delivery_logs_status_known
        CHECK (status IN ('sending', 'unknown', 'sent', 'delivered', 'read', 'failed', 'bounced'))
) PARTITION BY RANGE (attempted_at);
CREATE INDEX notification_delivery_logs_newest ON notification_delivery_logs (attempted_at DESC, id DESC);
CREATE INDEX notification_delivery_logs_of_delivery ON notification_delivery_logs (delivery_id);
CREATE INDEX notification_delivery_logs_of_notification ON notification_delivery_logs (notification_id);
-- A provider reports on a message by its own id.
CREATE INDEX notification_delivery_logs_told_of
    ON notification_delivery_logs (channel, provider_message_id)
    WHERE provider_message_id IS NOT NULL;
-- The first partition ends with the present month; the owner's function makes the months after it.
CREATE TABLE notification_delivery_logs_earlier PARTITION OF notification_delivery_logs
    FOR VALUES FROM (MINVALUE)
    TO ((date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC');
ALTER TABLE notification_delivery_logs ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON notification_delivery_logs TO campus_notifications_api;
CREATE POLICY notification_delivery_logs_for_staff ON notification_delivery_logs FOR SELECT
    USING (app_may('delivery_logs:read') OR app_may('notifications:resend'));

-- Who requested that a message is sent again.
CREATE TABLE notification_resends (
    id uuid PRIMARY KEY,
    delivery_id uuid NOT NULL,
    log_id uuid NOT NULL,
    asked_by uuid NOT NULL,
    idempotency_key text,
    asked_at timestamptz NOT NULL,
    CONSTRAINT notification_resends_delivery FOREIGN KEY (delivery_id) REFERENCES notification_deliveries (id),
    CONSTRAINT notification_resends_once UNIQUE (asked_by, idempotency_key)
);
CREATE INDEX notification_resends_of_delivery ON notification_resends (delivery_id);
ALTER TABLE notification_resends ENABLE ROW LEVEL SECURITY;

-- A PIN under delivery: `due_at` is when the next channel is tried, NULL when nothing is left to do. A PIN is over when
-- it was used or replaced; one sent by deliver-notification has no order.
CREATE TABLE pin_watches (
    notification_id uuid PRIMARY KEY,
    order_id uuid,
    issue integer NOT NULL,
    channel text NOT NULL,
    due_at timestamptz,
    is_over boolean NOT NULL DEFAULT false
);
CREATE INDEX pin_watches_due ON pin_watches (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX pin_watches_of_order ON pin_watches (order_id);
ALTER TABLE pin_watches ENABLE ROW LEVEL SECURITY;

-- ---------------------------------------------------------------------------------------------------------------------
-- Devices and preferences
-- ---------------------------------------------------------------------------------------------------------------------

-- A push address: a native token, or a browser's subscription with its encryption keys (RFC 8291). An address belongs
-- to its last registrant.
CREATE TABLE user_devices (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    kind text NOT NULL,
    address text NOT NULL,
    public_key text,
    auth_secret text,
    created_at timestamptz NOT NULL,
    registered_at timestamptz NOT NULL,
    CONSTRAINT user_devices_address UNIQUE (address),
    CONSTRAINT user_devices_kind_known CHECK (kind IN ('web', 'android', 'ios')),
    CONSTRAINT user_devices_keys_of_web
        CHECK ((kind = 'web') = (public_key IS NOT NULL) AND (kind = 'web') = (auth_secret IS NOT NULL))
);
CREATE INDEX user_devices_of_user ON user_devices (user_id, created_at);
ALTER TABLE user_devices ENABLE ROW LEVEL SECURITY;
GRANT SELECT, DELETE ON user_devices TO campus_notifications_api;
CREATE POLICY user_devices_of_their_user ON user_devices USING (user_id = app_user_id());

-- A user's choices. No row, or no channel in `channels`: the default.
CREATE TABLE notification_preferences (
    user_id uuid PRIMARY KEY,
    channels jsonb NOT NULL,
    quiet_from time,
    quiet_to time,
    timezone text NOT NULL,
    locale text NOT NULL,
    revision integer NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT notification_preferences_quiet_whole CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
);
ALTER TABLE notification_preferences ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON notification_preferences TO campus_notifications_api;
CREATE POLICY notification_preferences_of_their_user ON notification_preferences USING (user_id = app_user_id());

-- ---------------------------------------------------------------------------------------------------------------------
-- Alerts
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE alerts (
    id uuid PRIMARY KEY,
    severity text NOT NULL,
    title text NOT NULL,
    detail text NOT NULL,
    subject text,
    runbook text NOT NULL,
    dedup_key text NOT NULL,
    source text NOT NULL,
    repetitions integer NOT NULL DEFAULT 0,
    raised_at timestamptz NOT NULL,
    last_raised_at timestamptz NOT NULL,
    paged_at timestamptz,
    page_error text,
    closed_at timestamptz,
    CONSTRAINT alerts_severity_known CHECK (severity IN ('SEV-1', 'SEV-2', 'SEV-3'))
);
-- Repetitions of an open alert are the same alert.
CREATE UNIQUE INDEX alerts_open_once ON alerts (dedup_key) WHERE closed_at IS NULL;
CREATE INDEX alerts_newest ON alerts (raised_at DESC, id DESC);
CREATE INDEX alerts_of_key ON alerts (dedup_key, closed_at);
CREATE INDEX alerts_closed ON alerts (closed_at) WHERE closed_at IS NOT NULL;
ALTER TABLE alerts ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON alerts TO campus_notifications_api;
CREATE POLICY alerts_for_staff ON alerts FOR SELECT USING (app_may('alerts:read'));

-- ---------------------------------------------------------------------------------------------------------------------
-- Messaging app
-- ---------------------------------------------------------------------------------------------------------------------

-- The specification's deduplication table, with the outcome and the received bytes. The app gives a body no id: its key
-- is the SHA-256 of the bytes.
CREATE TABLE processed_webhook_events (
    id text PRIMARY KEY,
    provider text NOT NULL,
    event_type text NOT NULL,
    payload jsonb NOT NULL,
    raw bytea NOT NULL,
    outcome text NOT NULL,
    processed_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT processed_webhook_events_outcome_known CHECK (outcome IN ('queued', 'done', 'ignored', 'dead'))
);
CREATE INDEX processed_webhook_events_oldest ON processed_webhook_events (processed_at);
ALTER TABLE processed_webhook_events ENABLE ROW LEVEL SECURITY;

-- One message, or one status of a message, whatever bodies carried it. `content` is emptied after its effect. A body
-- may be removed before its items.
CREATE TABLE messaging_items (
    id text PRIMARY KEY,
    webhook_id text,
    kind text NOT NULL,
    content jsonb NOT NULL,
    outcome text NOT NULL,
    ticket_id uuid,
    received_at timestamptz NOT NULL,
    CONSTRAINT messaging_items_kind_known CHECK (kind IN ('message', 'status')),
    CONSTRAINT messaging_items_outcome_known CHECK (outcome IN ('queued', 'done', 'ignored', 'dead')),
    CONSTRAINT messaging_items_webhook
        FOREIGN KEY (webhook_id) REFERENCES processed_webhook_events (id) ON DELETE SET NULL
);
CREATE INDEX messaging_items_of_webhook ON messaging_items (webhook_id);
CREATE INDEX messaging_items_of_ticket ON messaging_items (ticket_id) WHERE ticket_id IS NOT NULL;
CREATE INDEX messaging_items_statuses ON messaging_items (received_at) WHERE kind = 'status';
ALTER TABLE messaging_items ENABLE ROW LEVEL SECURITY;

-- ---------------------------------------------------------------------------------------------------------------------
-- Support
-- ---------------------------------------------------------------------------------------------------------------------

-- `phone_key` finds the ticket of a number, `phone_sealed` is the reply address, staff see `phone_masked`. `heard_at`:
-- the customer's last message in the messaging app; free text may go there for 24 hours.
CREATE TABLE support_tickets (
    id uuid PRIMARY KEY,
    user_id uuid,
    source text NOT NULL,
    subject text NOT NULL,
    order_id uuid,
    status text NOT NULL,
    priority text NOT NULL,
    assignee_id uuid,
    revision integer NOT NULL,
    unread_by_customer integer NOT NULL DEFAULT 0,
    unread_by_staff integer NOT NULL DEFAULT 0,
    phone_key text,
    phone_sealed text,
    phone_masked text,
    heard_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    closed_at timestamptz,
    CONSTRAINT support_tickets_source_known CHECK (source IN ('app', 'messaging')),
    CONSTRAINT support_tickets_status_known CHECK (status IN ('open', 'pending', 'closed')),
    CONSTRAINT support_tickets_priority_known CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
    CONSTRAINT support_tickets_closed_whole CHECK ((status = 'closed') = (closed_at IS NOT NULL))
);
CREATE INDEX support_tickets_newest ON support_tickets (created_at DESC, id DESC);
CREATE INDEX support_tickets_of_user ON support_tickets (user_id, created_at DESC, id DESC);
CREATE INDEX support_tickets_of_phone ON support_tickets (phone_key) WHERE phone_key IS NOT NULL;
ALTER TABLE support_tickets ENABLE ROW LEVEL SECURITY;
GRANT
    SELECT (
        id, user_id, source, subject, order_id, status, priority, assignee_id, revision, unread_by_customer,
        unread_by_staff, phone_masked, heard_at, created_at, updated_at, closed_at
    ),
    INSERT (
        id, user_id, source, subject, order_id, status, priority, revision, unread_by_staff, created_at, updated_at
    ),
    UPDATE (status, priority, assignee_id, revision, unread_by_customer, unread_by_staff, updated_at, closed_at)
ON support_tickets TO campus_notifications_api;
CREATE POLICY support_tickets_seen ON support_tickets FOR SELECT
    USING (user_id = app_user_id() OR app_may('tickets:manage') OR app_may('tickets:read'));
CREATE POLICY support_tickets_opened ON support_tickets FOR INSERT
    WITH CHECK (user_id = app_user_id() AND source = 'app');
CREATE POLICY support_tickets_changed ON support_tickets FOR UPDATE
    USING (user_id = app_user_id() OR app_may('tickets:manage'));

-- A ticket's owner writes as the customer, other staff write as staff.
CREATE TABLE support_messages (
    id uuid PRIMARY KEY,
    ticket_id uuid NOT NULL,
    author text NOT NULL,
    author_id uuid,
    source text NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT support_messages_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets (id),
    CONSTRAINT support_messages_author_known CHECK (author IN ('customer', 'staff')),
    CONSTRAINT support_messages_source_known CHECK (source IN ('app', 'messaging'))
);
CREATE INDEX support_messages_of_ticket ON support_messages (ticket_id, created_at, id);
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

-- The image itself is in the media store, under the id. Visible with its ticket.
CREATE TABLE support_attachments (
    id uuid PRIMARY KEY,
    ticket_id uuid NOT NULL,
    author text NOT NULL,
    author_id uuid NOT NULL,
    byte_count integer NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT support_attachments_ticket FOREIGN KEY (ticket_id) REFERENCES support_tickets (id),
    CONSTRAINT support_attachments_author_known CHECK (author IN ('customer', 'staff'))
);
CREATE INDEX support_attachments_of_ticket ON support_attachments (ticket_id, created_at, id);
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

-- ---------------------------------------------------------------------------------------------------------------------
-- Assistant
-- ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE conversations (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    title text NOT NULL,
    message_count integer NOT NULL,
    created_at timestamptz NOT NULL,
    last_message_at timestamptz NOT NULL
);
CREATE INDEX conversations_of_user ON conversations (user_id, created_at DESC, id DESC);
CREATE INDEX conversations_silent ON conversations (last_message_at);
ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON conversations TO campus_notifications_api;
CREATE POLICY conversations_of_their_user ON conversations USING (user_id = app_user_id());

-- A message and its reply are written together; `tokens` is the provider's count for the reply.
CREATE TABLE conversation_messages (
    id uuid PRIMARY KEY,
    conversation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    position integer NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    provider text,
    prompt_tokens integer,
    completion_tokens integer,
    created_at timestamptz NOT NULL,
    CONSTRAINT conversation_messages_conversation
        FOREIGN KEY (conversation_id) REFERENCES conversations (id) ON DELETE CASCADE,
    CONSTRAINT conversation_messages_place UNIQUE (conversation_id, position),
    CONSTRAINT conversation_messages_role_known CHECK (role IN ('user', 'assistant')),
    CONSTRAINT conversation_messages_provider_of_replies CHECK ((role = 'assistant') = (provider IS NOT NULL))
);
ALTER TABLE conversation_messages ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT ON conversation_messages TO campus_notifications_api;
CREATE POLICY conversation_messages_of_their_user ON conversation_messages
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id() AND EXISTS (SELECT FROM conversations c WHERE c.id = conversation_id));

-- Messages being answered: one of a conversation at a time, and few of a user. No foreign key: the conversation may not
-- be written yet.
CREATE TABLE conversation_turns (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    until timestamptz NOT NULL,
    CONSTRAINT conversation_turns_one_at_a_time UNIQUE (conversation_id)
);
CREATE INDEX conversation_turns_of_user ON conversation_turns (user_id);
ALTER TABLE conversation_turns ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON conversation_turns TO campus_notifications_api;
CREATE POLICY conversation_turns_of_their_user ON conversation_turns USING (user_id = app_user_id());

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys
-- ---------------------------------------------------------------------------------------------------------------------

-- Processes read it at start, as the service role. A rotation encrypts the key anew; every hash stays valid.
CREATE TABLE hash_keys (
    name text PRIMARY KEY,
    key_encrypted text NOT NULL
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Media cleanup (common.media.cleanup)
-- ---------------------------------------------------------------------------------------------------------------------

-- Images to remove from the media store at `leave_at`, unless their owner shows them by then. The policies of the tickets hold inside: who sees a ticket may attach an image.
CREATE TABLE leaving_pictures (
    picture_id uuid PRIMARY KEY,
    owner_id uuid NOT NULL,
    leave_at timestamptz NOT NULL,
    claimed_until timestamptz
);
CREATE INDEX leaving_pictures_due ON leaving_pictures (leave_at);
ALTER TABLE leaving_pictures ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON leaving_pictures TO campus_notifications_api;
CREATE POLICY leaving_pictures_own ON leaving_pictures
    USING (EXISTS (SELECT FROM support_tickets AS own WHERE own.id = owner_id));
