"""The encrypted columns of identity, for `re-encrypt`."""

from common.database.hash_keys import hash_key_rows
from common.database.reencryption import EncryptedRows, stale_text
from identity.credentials.encryption import Encryption
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.totp import Totp


def encrypted_rows(encryption: Encryption, totp: Totp, signing_keys: SigningKeys) -> list[EncryptedRows]:
    return [
        EncryptedRows(
            table="totp_factors",
            key="id",
            read=("secret_sealed",),
            stale=stale_text("secret_sealed"),
            encryptor=encryption.totp_secrets,
            renew=lambda row: {"secret_sealed": totp.reencrypt(row["id"], row["secret_sealed"])},
        ),
        EncryptedRows(
            table="signing_keys",
            key="kid",
            read=("private_key_sealed",),
            stale=stale_text("private_key_sealed"),
            encryptor=encryption.signing_keys,
            renew=lambda row: {"private_key_sealed": signing_keys.reencrypt(row["kid"], row["private_key_sealed"])},
            before_first="''",
        ),
        hash_key_rows(encryption.hash_key),
    ]
