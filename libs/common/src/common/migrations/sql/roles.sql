-- The rights of both roles in every table, and the functions that row policies call. The API role is granted each table
-- separately.

GRANT USAGE ON SCHEMA public TO campus_{service}_api, campus_{service}_service;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO campus_{service}_service;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO campus_{service}_service, campus_{service}_api;

-- Who asks (contract section 5). Plain SQL, which the planner can inline.
CREATE FUNCTION app_user_id() RETURNS uuid STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $$;
CREATE FUNCTION app_vendor_id() RETURNS uuid STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('app.vendor_id', true), '')::uuid $$;
CREATE FUNCTION app_campus_id() RETURNS uuid STABLE LANGUAGE sql AS
$$ SELECT nullif(current_setting('app.campus_id', true), '')::uuid $$;
CREATE FUNCTION app_may(permission text) RETURNS boolean STABLE LANGUAGE sql AS
$$ SELECT permission = ANY (string_to_array(current_setting('app.permissions', true), ',')) $$;
