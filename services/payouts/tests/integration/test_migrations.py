import asyncpg

from testkit.fixtures import DatabaseFactory


async def test_every_table_the_api_role_may_touch_is_under_row_security(fresh_database: DatabaseFactory) -> None:

    urls = await fresh_database("payouts")
    connection = await asyncpg.connect(urls.owner)
    open_tables = await connection.fetch(
        """
        SELECT DISTINCT c.relname FROM pg_class AS c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relrowsecurity
          AND c.relname NOT IN ('outbox', 'outbox_sequences')
          AND (has_any_column_privilege('campus_payouts_api', c.oid, 'SELECT, INSERT, UPDATE')
               OR has_table_privilege('campus_payouts_api', c.oid, 'DELETE'))
        """
    )
    assert [row["relname"] for row in open_tables] == []
    await connection.close()


async def test_no_api_role_reads_an_account_number(fresh_database: DatabaseFactory) -> None:

    urls = await fresh_database("payouts")
    connection = await asyncpg.connect(urls.owner)
    for table in ("vendor_bank_details", "bank_detail_versions"):
        readable = await connection.fetchval(
            "SELECT has_column_privilege('campus_payouts_api', $1, 'account_number', 'SELECT')", table
        )
        assert readable is False
    await connection.close()
