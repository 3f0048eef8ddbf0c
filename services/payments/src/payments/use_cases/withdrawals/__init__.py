"""Withdrawals of refunded money from balances to bank accounts (decision 156).

The request takes the amount from the balance in the transaction that records it, before any transfer. Above
`BALANCE_WITHDRAWAL_TWO_PERSON_MINOR` it waits for two people. `submitting` and the call's reference (`wd-` and 32 hex
digits of the id) are committed before the call. After a lost response the gateway is queried by that reference, which
it accepts once; without a transfer, and 2 min after the last call, the same transfer is sent again.

A rejected, failed or reversed transfer returns the money to the balance in the transaction that records it. A success
that the gateway confirms after that takes the money again: refunds, then rewards. The platform bears what the balance
no longer has (`withdrawal_loss`), with a SEV-1 alert. A transfer is queried again one and seven days after its first
end, because that webhook may be lost (decision 142).
"""
