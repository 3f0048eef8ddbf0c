"""Sign-up, profiles, and proof of an e-mail address.

**Nothing rests on an unconfirmed address** (decision 29). A redeemed code, a reset token and the claim
`emailVerifiedClaim` of a further issuer confirm the mail address. The first confirmation (`confirm_email`) ends all
sessions and removes password, second factors and recovery codes. A matching password sent with the code stays, with
the phone number of the sign-up. Before it, `sign_tokens` issues nothing; of federated users neither staff roles nor
the campus count. Staff grants, `grant-admin` and vendor applications are rejected until then. The account of
`BOOTSTRAP_ADMIN_EMAIL` confirms its address at its first login.

**Known and unknown addresses look alike.** A login with an unknown address checks the password against a dummy hash.
A sign-up with a known address does the same hashing and transaction, rolls it back, and responds 201 with an unused
id; the owner gets the mail `already_registered`. The password of each sign-up is stored as a digest by address for 30
days. So a login with it is 403 `confirmationRequired` for new and known addresses, after the same work. A wrong
password is 401 for both and sends nothing. One limit remains: the author of a sign-up can see when its owner confirms
the address.

**create-user rejects only what no valid system sends.** An unknown domain, an impossible number (dropped), an unknown
token and an unusual address never fail it. 422 is for an `id` that is no UUID, wrong types, unknown fields, names
over 200 characters, U+0000 or lone surrogates, and a missing or malformed `email`. In a sign-up the address must be
plain and the number possible. The first call for an id decides, and later ones get its response.
"""
