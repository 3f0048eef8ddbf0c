ALTER TABLE gateway_banks ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON gateway_banks TO campus_payouts_api;
-- The names of banks are public.
CREATE POLICY gateway_banks_select ON gateway_banks FOR SELECT TO campus_payouts_api USING (true);
