"""SQL that sets the caller for the row policies, for one transaction or for one statement (decisions 5 and 51)."""

from functools import lru_cache

from common.auth.caller import ROW_SETTINGS, Caller


def start_as(caller: Caller) -> str:
    """BEGIN with the settings of the row policies, which end with the transaction. `Caller` rejects quotes in them."""
    settings = zip(ROW_SETTINGS, caller.row_settings, strict=True)
    return "BEGIN; SELECT " + ", ".join(f"set_config('app.{name}', '{value}', true)" for name, value in settings)


# As many as the statements of a connection (`statement_cache_size`).
@lru_cache(maxsize=512)
def with_settings(statement: str, count: int) -> str:
    """Return the statement after the settings of the row policies, as parameters behind its own `count`.

    PostgreSQL evaluates the inner subquery for the one row of `settings`: a lateral item with OFFSET is not merged with
    its surroundings. Policies evaluated before the settings would see no caller, and show no private row.
    """
    settings = ", ".join(
        f"set_config('app.{name}', ${number}, true) AS {name}" for number, name in enumerate(ROW_SETTINGS, count + 1)
    )
    return f"""
        SELECT found.* FROM (SELECT {settings}) AS settings,
        LATERAL (SELECT rows.* FROM ({statement}) AS rows WHERE settings.user_id IS NOT NULL OFFSET 0) AS found
    """
