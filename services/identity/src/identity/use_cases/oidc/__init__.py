"""Sign-in by an institution's identity provider (contract section 10.6, decision 153).

**The provider proves an address, and the link holds from then on.** The first sign-in links the provider's user
(`iss`, `sub`) to the account of the verified address. Later ones follow the link, whatever the address has become, as
long as the account's own address belongs to a domain of the provider. Accounts are never created. One account has one
link at each issuer, so the next owner of a mailbox does not get the account.

**A flow is used once.** `state` is stored as a hash and deleted before the provider's code is redeemed. The nonce and
the verifier of PKCE derive from it. Calls to the provider are made between the transactions.

**The page that the user returns to gets a code, never a token.** It is valid for 60 s and exchanged once. The page
puts a random value of its own into `returnTo` and compares it, so that no other user can sign it in to their account.
"""
