"""Operations of the service: one verb, one file.

**The caller's unit of work checks rights, the service's unit of work changes the order.** Cancel, dispatch, verify
and reissue first read the order under the caller's row policies and find the caller's roles; absent and invisible
orders are the same 404. The parties of an order never change, so the roles stay valid. The service then locks and
changes the order in one transaction. The API role never updates an order, and a vendor verifies a PIN without any
right to read it. Functions with the owner's rights would have moved the transitions into PL/pgSQL.
"""
