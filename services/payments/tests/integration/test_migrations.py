import asyncpg

from contracts.identity import SessionRevoked
from contracts.topology import SUBSCRIPTIONS, WORK_QUEUES
from payments import consumers
from testkit.fixtures import DatabaseFactory


async def test_every_table_the_api_role_may_touch_is_under_row_security(fresh_database: DatabaseFactory) -> None:
    urls = await fresh_database("payments")
    connection = await asyncpg.connect(urls.owner)
    open_tables = await connection.fetch(
        """
        SELECT c.relname FROM pg_class AS c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT c.relrowsecurity
          AND c.relname NOT IN ('outbox', 'outbox_sequences')
          AND (has_any_column_privilege('campus_payments_api', c.oid, 'SELECT, INSERT, UPDATE')
               OR has_table_privilege('campus_payments_api', c.oid, 'DELETE'))
        """
    )
    await connection.close()
    assert [row["relname"] for row in open_tables] == []


def test_the_subscriptions_equal_the_topology() -> None:
    received = {line.event for line in consumers.SUBSCRIPTIONS} | {SessionRevoked}
    assert received == set(SUBSCRIPTIONS["payments"])
    assert {item.queue for item in consumers.WORK} == {name for name in WORK_QUEUES if name.startswith("payments.")}
