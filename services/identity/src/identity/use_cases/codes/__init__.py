"""One-time codes by e-mail and SMS.

**Codes are issued before the account is looked up.** `otp` and `password/forgot` issue a code for every address,
store its keyed hash, and enqueue address and code, encrypted, for the worker (`identity.codes`). The worker looks up
the account after the response and publishes `identity.one_time_code_issued.v1` or nothing. So neither response nor
timing reveals an account. Each purpose and address has one code, and a newer one replaces it. Sign-in codes have six
digits, ten minutes and five tries; reset tokens 256 bits and half an hour. One request in 30 s, five an hour and
fifteen a day issue a code; others get the same response. A redeemed code resets these limits. A year of guessing at
one address succeeds in less than 3 % of cases. One limit remains: any client can use up an address's hourly codes,
but the password and the last code still work.

**A number signs in the user who confirmed it.** Several accounts may name one number. A code signs in only the one
that confirmed it. The signed-in owner confirms a number: `otp` and `otp/verify` with a token of the user whose
profile names it. The last confirmation is the only one. A changed number or address is not confirmed
(`emailConfirmed`, `phoneConfirmed`). Confirming a number removes no credentials.

**A wrong code is 422** `VALIDATION_FAILED` with the parameter `code`; 401 would make clients refresh a valid token.
"""
