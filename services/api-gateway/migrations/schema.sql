-- Generated from the migrated database by `make schemas`. Do not edit: tables/ and migrations/sql are the source.
-- Every table, view and sequence belongs to campus_api_gateway_owner. PostgreSQL 15 wrote the expressions.

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
GRANT SELECT, INSERT ON dead_letter_actions TO campus_api_gateway_service;

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
GRANT SELECT, INSERT ON dead_letter_closures TO campus_api_gateway_service;

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
GRANT SELECT, INSERT, UPDATE, DELETE ON dead_letters TO campus_api_gateway_service;

CREATE TABLE idempotency_records (
    caller_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    fingerprint bytea NOT NULL,
    lease uuid NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    status smallint,
    content_type text,
    body bytea,
    begun_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (caller_id, key_hash),
    CONSTRAINT idempotency_records_answer_is_whole CHECK ((((status IS NULL) = (content_type IS NULL)) AND ((status IS NULL) = (body IS NULL))))
);
CREATE INDEX idempotency_records_oldest ON idempotency_records USING btree (begun_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_records TO campus_api_gateway_service;

CREATE TABLE inbox (
    event_id uuid NOT NULL,
    consumer text NOT NULL,
    handled_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT inbox_pkey PRIMARY KEY (event_id, consumer)
);
CREATE INDEX inbox_handled ON inbox USING btree (handled_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON inbox TO campus_api_gateway_service;

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
GRANT INSERT ON outbox TO campus_api_gateway_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox TO campus_api_gateway_service;

CREATE TABLE outbox_sequences (
    subject text NOT NULL,
    last bigint NOT NULL,
    used_at timestamp with time zone DEFAULT date_trunc('day'::text, now()) NOT NULL,
    CONSTRAINT outbox_sequences_pkey PRIMARY KEY (subject)
);
CREATE INDEX outbox_sequences_idle ON outbox_sequences USING btree (used_at);
GRANT SELECT, INSERT, UPDATE ON outbox_sequences TO campus_api_gateway_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_sequences TO campus_api_gateway_service;

CREATE TABLE session_revocations (
    user_id uuid NOT NULL,
    session_id uuid,
    not_before timestamp with time zone NOT NULL,
    heard_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX session_revocations_heard ON session_revocations USING btree (heard_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON session_revocations TO campus_api_gateway_service;
