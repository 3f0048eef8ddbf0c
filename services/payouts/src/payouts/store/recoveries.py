"""SQL for the recoveries of a transfer."""


def recoveries_of(payout_id: str, transfer_id: str) -> str:
    """Return a query of one row, for two SQL expressions: how many recoveries were `made`, and how many `returned`."""
    return (
        "SELECT count(*) FILTER (WHERE kind = 'recovery') AS made, "
        "count(*) FILTER (WHERE kind = 'recovery_returned') AS returned FROM wallet_lines "
        f"WHERE payout_id = {payout_id} AND kind IN ('recovery', 'recovery_returned') "
        f"AND split_part(source_key, ':', 2) = CAST({transfer_id} AS text)"
    )
