-- The log of deliveries in monthly partitions, which belong to the owner of the database: the service's roles are granted
-- the log only, with its policies. One function of the owner creates future months and drops old ones
-- (`common.database.retention.Partitioned`). Rows without a month are stored in the rest, counted, and moved when their
-- month is created. The first partition ends with the present month.
CREATE TABLE notification_delivery_logs_earlier PARTITION OF notification_delivery_logs
    FOR VALUES FROM (MINVALUE)
    TO ((date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC');
CREATE TABLE notification_delivery_logs_rest PARTITION OF notification_delivery_logs DEFAULT;
REVOKE ALL ON notification_delivery_logs_earlier, notification_delivery_logs_rest
    FROM campus_notifications_api, campus_notifications_service;
ALTER TABLE notification_delivery_logs_earlier ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_delivery_logs_rest ENABLE ROW LEVEL SECURITY;

-- One worker runs at a time; for the others the function returns NULL. All locks are acquired together, and only when a
-- month is created or dropped. A lock that is not available within half a second (PostgreSQL's deadlock timeout is
-- longer) is left to the next round, because waiting for it would block later statements. A call creates at most a year
-- of months, and no expired one.
CREATE FUNCTION notification_delivery_logs_turn_months(
    ahead_until timestamptz, gone_before timestamptz, OUT made integer, OUT dropped integer, OUT astray bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '500ms' AS $$
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
END $$;
REVOKE EXECUTE ON FUNCTION notification_delivery_logs_turn_months FROM public;
GRANT EXECUTE ON FUNCTION notification_delivery_logs_turn_months TO campus_notifications_service;

SELECT notification_delivery_logs_turn_months(now() + interval '62 days', '-infinity');
