"""Encrypted texts are bound to key, purpose and context, and readable through a rotation."""

import base64
import hashlib
import itertools
import os

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from common.observability.telemetry import PREVIOUS_KEY_ACCEPTED
from common.primitives.encryption import DecryptionFailed, Encryptor, UnknownKey

OLD, NEW, SHARED = "the key until today", "the key from today on", "the key of all services"


def of_the_release_before(key: str, plain: str, context: str) -> str:
    """Return the old format, as the release before wrote it."""
    nonce = os.urandom(12)
    cipher = AESGCM(hashlib.sha256(b"sealing:" + key.encode()).digest())
    return base64.urlsafe_b64encode(nonce + cipher.encrypt(nonce, plain.encode(), context.encode())).decode()


def read_by_the_release_before(key: str, encrypted: str, context: str) -> str:
    raw = base64.urlsafe_b64decode(encrypted)
    cipher = AESGCM(hashlib.sha256(b"sealing:" + key.encode()).digest())
    return cipher.decrypt(raw[:12], raw[12:], context.encode()).decode()


def test_a_text_is_decrypted_with_its_key_purpose_and_context_only() -> None:
    encrypted = Encryptor("PINs", NEW).encrypt("123456", "order-1")
    assert "123456" not in encrypted
    assert Encryptor("PINs", NEW).decrypt(encrypted, "order-1") == "123456"
    for encryptor, context, text in (
        (Encryptor("PINs", OLD), "order-1", encrypted),
        (Encryptor("codes", NEW), "order-1", encrypted),
        (Encryptor("PINs", NEW), "order-2", encrypted),
        (Encryptor("PINs", NEW), "order-1", encrypted[:-4] + "AAA="),
        (Encryptor("PINs", NEW), "order-1", "x"),
        (Encryptor("PINs", NEW), "order-1", ""),
        (Encryptor("PINs", NEW), "order-1", "2."),
    ):
        with pytest.raises(DecryptionFailed):
            encryptor.decrypt(text, context)


def test_every_process_decrypts_at_every_step_of_a_rotation() -> None:
    """First every process has the next key, then it encrypts, then the previous one is removed."""
    phases = [Encryptor("PINs", OLD), Encryptor("PINs", OLD, NEW), Encryptor("PINs", NEW, OLD), Encryptor("PINs", NEW)]
    for before, after in itertools.pairwise(phases):
        for writer, reader in ((before, after), (after, before)):
            if (writer, reader) != (phases[0], phases[-1]):
                assert reader.decrypt(writer.encrypt("123456", "order-1"), "order-1") == "123456"


def test_a_text_under_a_removed_key_is_an_unknown_key() -> None:
    encrypted = Encryptor("PINs", OLD).encrypt("123456", "order-1")
    with pytest.raises(UnknownKey):
        Encryptor("PINs", NEW).decrypt(encrypted, "order-1")


def test_only_uses_of_the_previous_key_are_counted() -> None:
    counter = PREVIOUS_KEY_ACCEPTED.labels("pin-key")
    encryptor = Encryptor("PINs", NEW, OLD, counted_as="pin-key")
    before = counter._value.get()
    encryptor.decrypt(encryptor.encrypt("1", "a"), "a")
    assert counter._value.get() == before
    encryptor.decrypt(Encryptor("PINs", OLD).encrypt("1", "a"), "a")
    assert counter._value.get() == before + 1


@pytest.mark.parametrize("old_keys", [(SHARED, ""), ("", SHARED), (NEW, SHARED)])
def test_texts_of_the_previous_release_are_decrypted_while_its_key_is_set(old_keys) -> None:
    encrypted = of_the_release_before(SHARED, "123456", "order-1")
    assert Encryptor("PINs", NEW, old_keys=old_keys).decrypt(encrypted, "order-1") == "123456"
    with pytest.raises(DecryptionFailed):
        Encryptor("PINs", NEW).decrypt(encrypted, "order-1")


def test_the_previous_release_decrypts_the_old_format() -> None:
    encryptor = Encryptor("PINs", NEW, old_keys=(SHARED,), writes_old_format=True)
    encrypted = encryptor.encrypt("123456", "order-1")
    assert read_by_the_release_before(SHARED, encrypted, "order-1") == "123456"
    assert encryptor.decrypt(encrypted, "order-1") == "123456"
    assert encryptor.decrypt(Encryptor("PINs", NEW).encrypt("123456", "order-1"), "order-1") == "123456"


def test_the_key_id_shows_whether_a_text_needs_re_encryption() -> None:
    encryptor = Encryptor("PINs", NEW, OLD, old_keys=(SHARED,))
    [pattern] = encryptor.unretired_patterns
    assert encryptor.encrypt("1", "a").startswith(pattern.rstrip("%"))
    for stale in (Encryptor("PINs", OLD).encrypt("1", "a"), of_the_release_before(SHARED, "1", "a")):
        assert not stale.startswith(pattern.rstrip("%"))


def test_texts_of_other_purposes_are_decrypted_by_their_receiver() -> None:
    codes, pins = Encryptor("codes", NEW), Encryptor("PINs", NEW, OLD)
    messages = Encryptor("messages", NEW, also=(codes, pins))
    for sender in (codes, pins, Encryptor("PINs", OLD)):
        assert messages.decrypt(sender.encrypt("1", "a"), "a") == "1"
    assert len(messages.unretired_patterns) == 3
    with pytest.raises(DecryptionFailed):
        pins.decrypt(messages.encrypt("1", "a"), "a")
