"""Logs in monthly partitions, for migrations; frozen by version like `common.migrations.functions`.

Partitions belong to the owner of the database. The service's roles are granted only the log itself, with its row
policies. One function of the owner for each log (`common.database.retention.Partitioned`) creates future months and
drops old ones.
"""

from alembic import op


def create_monthly_partitions_v1(service: str, table: str, column: str, *, beside: str) -> None:
    """Completes a table that is partitioned by range of `column`, with a partition up to the start of some month (UTC).

    Rows without a month are stored in `<table>_rest`, counted, and moved when their month is created. `beside` is the
    table that the log references; the function locks both for a moment.
    """
    op.execute(f"CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT")
    close_partition_v1(service, f"{table}_rest")
    op.execute(_MONTHLY_PARTITIONS_V1.format(service=service, table=table, column=column, beside=beside))
    op.execute(f"REVOKE EXECUTE ON FUNCTION {table}_turn_months FROM public")
    op.execute(f"GRANT EXECUTE ON FUNCTION {table}_turn_months TO campus_{service}_service")


def close_partition_v1(service: str, partition: str) -> None:
    """Revokes a partition from the roles of the service."""
    op.execute(f"REVOKE ALL ON {partition} FROM campus_{service}_api, campus_{service}_service")
    op.execute(f"ALTER TABLE {partition} ENABLE ROW LEVEL SECURITY")


# One worker runs at a time; for the others the function returns NULL. All locks are acquired together, and only when a
# month is created or dropped. A lock that is not available within half a second (PostgreSQL's deadlock timeout is
# longer) is left to the next round, because waiting for it would block later statements. A call creates at most a year
# of months, and no expired one.
_MONTHLY_PARTITIONS_V1 = """
CREATE FUNCTION {table}_turn_months(
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
    IF NOT pg_try_advisory_xact_lock(hashtextextended('{table}_turn_months', 0)) THEN
        RETURN;
    END IF;
    DELETE FROM {table}_rest WHERE ctid = ANY (
        ARRAY(SELECT ctid FROM {table}_rest WHERE {column} < gone_before LIMIT 1000)
    );
    SELECT count(*) INTO astray FROM (SELECT FROM {table}_rest LIMIT 10000) AS rest;
    SELECT greatest(max(month.ends), date_trunc('month', gone_before, 'UTC')),
        array_agg(month.name) FILTER (WHERE month.ends <= gone_before)
    INTO begins, gone
    FROM (
        SELECT c.relname::text AS name,
            (regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$TO \\('([^']+)'\\)$re$))[1]::timestamptz AS ends
        FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = '{table}'::regclass
    ) AS month;
    IF begins > ahead_until AND gone IS NULL THEN
        RETURN;
    END IF;
    BEGIN
        LOCK TABLE {table}, {beside} IN ACCESS EXCLUSIVE MODE;
        FOREACH name IN ARRAY coalesce(gone, '{{}}') LOOP
            EXECUTE format('DROP TABLE %I', name);
            dropped := dropped + 1;
        END LOOP;
        WHILE begins <= ahead_until AND made < 12 LOOP
            ends := (begins AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
            name := '{table}_' || to_char(begins AT TIME ZONE 'UTC', 'YYYY_MM');
            EXECUTE format('CREATE TABLE %I (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
            EXECUTE format(
                'WITH moved AS (DELETE FROM {table}_rest WHERE {column} >= %L AND {column} < %L RETURNING *) '
                'INSERT INTO %I SELECT * FROM moved', begins, ends, name
            );
            EXECUTE format('ALTER TABLE {table} ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, begins, ends);
            EXECUTE format('REVOKE ALL ON %I FROM campus_{service}_api, campus_{service}_service', name);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
            made := made + 1;
            begins := ends;
        END LOOP;
    EXCEPTION WHEN lock_not_available THEN
        made := 0;
        dropped := 0;
    END;
END $$
"""
