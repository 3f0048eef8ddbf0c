-- A number for people: `{prefix}`, `-` and eight characters of Crockford's base 32. The column's default draws it, also for
-- rows that an older version inserts. A number in use is drawn again; the unique index decides between concurrent draws.
-- With the owner's rights, because a caller sees no numbers of others.
CREATE FUNCTION new_{kind}_number() RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE drawn bytea; symbols text;
BEGIN
    LOOP
        drawn := uuid_send(gen_random_uuid());
        -- Bytes 6 and 8 of a random UUID hold its version and its variant.
        SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(drawn, place) % 32 + 1, 1), '')
        INTO symbols FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 9, 10]) AS place;
        symbols := '{prefix}-' || substr(symbols, 1, 4) || '-' || substr(symbols, 5);
        EXIT WHEN NOT EXISTS (SELECT FROM {table} WHERE number = symbols);
    END LOOP;
    RETURN symbols;
END $$;
REVOKE EXECUTE ON FUNCTION new_{kind}_number FROM public;
GRANT EXECUTE ON FUNCTION new_{kind}_number TO campus_{service}_api, campus_{service}_service;
