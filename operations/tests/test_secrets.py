"""`secrets.env` is made once, kept, and readable by its owner alone."""

import base64
import subprocess
from pathlib import Path

from common.primitives.signatures import SigningKey, VerifyKeys
from operations.processes import SECRETS_OF_SERVICES
from operations.secret_table import KEYS_OF_PURPOSES
from operations.secrets import keys_of_purposes, load_secrets, new_key, read_secrets, write_secrets


def test_secrets_survive_a_restart(tmp_path: Path) -> None:
    first = load_secrets(tmp_path, {})
    assert load_secrets(tmp_path, {}) == first
    assert first["SEALING_KEY"] != load_secrets(tmp_path / "another", {})["SEALING_KEY"]


def test_only_the_owner_can_read_the_secrets(tmp_path: Path) -> None:
    load_secrets(tmp_path, {})
    assert (tmp_path / "secrets.env").stat().st_mode & 0o777 == 0o600


def test_a_variable_of_the_environment_has_priority_and_is_kept(tmp_path: Path) -> None:
    load_secrets(tmp_path, {})
    load_secrets(tmp_path, {"GATEWAY_SECRET_KEY": "given", "DEMO_TOTP_MAKER": ""})
    kept = load_secrets(tmp_path, {})
    assert kept["GATEWAY_SECRET_KEY"] == "given"
    assert len(base64.b32decode(kept["DEMO_TOTP_MAKER"])) == 20


def test_keys_are_32_random_bytes(tmp_path: Path) -> None:
    made = load_secrets(tmp_path, {})
    for name in ("SEALING_KEY", "PIN_KEY", "CURSOR_KEY", "GATEWAY_SECRET_KEY", "RELEASE_SIGNING_KEY"):
        assert len(base64.urlsafe_b64decode(made[name])) == 32


def test_what_is_written_is_read_back_by_us_and_by_a_shell(tmp_path: Path) -> None:
    path = tmp_path / "secrets.env"
    values = {"PLAIN": "abc=", "AWKWARD": "a b'c\"$HOME&d", "URL": "amqp://u:p@127.0.0.1:61/?a=1&b=2", "EMPTY": ""}
    write_secrets(path, values)
    assert read_secrets(path) == values
    script = f'. {path}; printf "%s\\n" "$PLAIN" "$AWKWARD" "$URL" "$EMPTY"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.removesuffix("\n").split("\n") == list(values.values())


def test_each_purpose_has_a_key_of_its_own_from_which_no_other_follows() -> None:
    keys_by_name = keys_of_purposes({"SEALING_KEY": "root", "SEALING_KEY_PREVIOUS": "other root"})
    keys = [keys_by_name[name + ending] for name in KEYS_OF_PURPOSES for ending in ("", "_PREVIOUS")]
    assert len(set(keys)) == 2 * len(KEYS_OF_PURPOSES)
    assert not {"root", "other root"} & set(keys_by_name.values())
    assert all(len(base64.urlsafe_b64decode(key)) == 32 for key in keys)
    assert keys_by_name["SEALING_KEY"] == keys_by_name["SEALING_KEY_PREVIOUS"] == ""
    assert keys_of_purposes({"SEALING_KEY": "root"})["MESSAGE_KEY_PREVIOUS"] == ""


def test_an_installation_of_the_release_before_keeps_the_shared_key_of_its_services(tmp_path: Path) -> None:
    write_secrets(tmp_path / "secrets.env", {"SEALING_KEY": "shared by all services"})
    kept = load_secrets(tmp_path, {})
    assert kept["SEALING_KEY"] == kept["SHARED_SEALING_KEY"] == "shared by all services"
    assert keys_of_purposes(kept)["SEALING_KEY"] == "shared by all services"
    # After its rotation it is not created again, and a new installation never has one.
    write_secrets(tmp_path / "secrets.env", {**kept, "SEALING_KEY": "new", "SHARED_SEALING_KEY": ""})
    assert load_secrets(tmp_path, {})["SHARED_SEALING_KEY"] == ""
    assert load_secrets(tmp_path / "another", {})["SHARED_SEALING_KEY"] == ""


def test_payouts_believes_what_payments_signs_and_the_previous_key(tmp_path: Path) -> None:
    before = load_secrets(tmp_path, {})
    [public] = before["RELEASE_VERIFY_KEYS"].split(",")
    key = SigningKey(before["RELEASE_SIGNING_KEY"])
    assert VerifyKeys([public]).verify(key.id, b"a message", key.sign(b"a message"))
    changed = load_secrets(tmp_path, {"RELEASE_SIGNING_KEY": new_key()})
    assert changed["RELEASE_VERIFY_KEYS"].split(",") == [SigningKey(changed["RELEASE_SIGNING_KEY"]).public_text, public]


def test_payments_alone_is_given_the_key_that_signs_and_payouts_only_the_public_half() -> None:
    holders = {
        name: [who for who, kept in SECRETS_OF_SERVICES.items() if name in kept]
        for name in ("RELEASE_SIGNING_KEY", "RELEASE_VERIFY_KEYS")
    }
    assert holders == {"RELEASE_SIGNING_KEY": ["payments"], "RELEASE_VERIFY_KEYS": ["payouts"]}
