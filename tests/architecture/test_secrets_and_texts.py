"""No code compares a user's text with a secret, except the user's own input for that secret."""

import ast
import re

from tests.architecture.sources import ROOT, dotted, nodes_of, product_files, texts_of

PRODUCT = product_files()
# Where a secret is decrypted, and its purpose. A decrypted secret is sent to its owner or a provider, and never
# compared.
DECRYPTED = {
    "common/primitives/encryption.py": "the cipher itself",
    "common/database/hash_keys.py": "the key of the keyed hashes of this service",
    "identity/credentials/totp.py": "the TOTP secret of the factor that the caller proves",
    "identity/credentials/signing_keys.py": "the keys that sign our tokens",
    "identity/use_cases/accounts/load_demo.py": "the TOTP secrets of the demo accounts, from our own settings",
    "identity/use_cases/factors/verify_factor.py": "the TOTP secret of the factor that the caller proves",
    "identity/use_cases/codes/send_code.py": "the address that a code goes to",
    "notifications/deliveries/consumers/identity.py": "the address that a code goes to, kept masked",
    "notifications/deliveries/store/encrypted_values.py": "secrets of messages, re-encrypted under the next key",
    "notifications/support/store/encrypted_values.py": "numbers of tickets, re-encrypted under the next key",
    "notifications/webhooks/store.py": "secrets of endpoints, re-encrypted under the next key",
    "notifications/deliveries/store/unsubscribe_links.py": "the user of the link in a mail, which the caller presents",
    "notifications/support/use_cases/tickets/check_message_key.py": "one stored secret, at the start, to prove the key",
    "notifications/deliveries/use_cases/deliveries/attempt_delivery.py": "what goes to the provider of one message",
    "notifications/webhooks/use_cases/send_webhook.py": "the secret that signs a webhook for its owner",
    "orders/queries/orders.py": "the contact of the other party, which the caller may see",
    "orders/store/contacts.py": "contacts of users, re-encrypted under the next key",
    "orders/store/receipts.py": "the buyer's name on their own receipt",
    "orders/use_cases/delivery/issue_delivery_pin.py": "the PIN that the buyer reads",
    "payouts/store/account_numbers.py": "the account number that a transfer goes to",
    "payouts/store/release_checkpoints.py": "the sums of a checkpoint, which no one without the key can write",
}
# Where something given is compared with a secret: always with the one that it was given for.
COMPARED = {
    "common/primitives/cursors.py": "the signature of the cursor itself",
    "common/primitives/decisions.py": "the hash of the decision that the checker read",
    "common/auth/service_keys.py": "the service key that the caller sends as such",
    "identity/credentials/totp.py": "the TOTP code for the caller's own factor, once for each step",
    "identity/use_cases/codes/verify_code.py": "the code for the address that it was sent to, with counted tries",
    "notifications/support/domain/messaging_webhook.py": (
        "the signature of the webhook itself, and the verify token of its handshake"
    ),
    "notifications/deliveries/domain/receipt_signatures.py": "the signature or key of the receipt itself",
    "orders/domain/pins.py": "the PIN given to verify-delivery, with counted tries",
    "payments/domain/signature.py": "the signature of the webhook itself",
}
TICKET_TEXTS = "notifications/deliveries/domain/masked_texts.py"
MESSAGE_TEXTS, MESSAGE_STORE = "orders/domain/message_texts.py", "orders/store/conversations.py"
TICKET_STORE = "notifications/support/store/tickets.py"


def short(path) -> str:
    """`identity/credentials/passwords.py`: a path below its `src`."""
    return str(path.relative_to(ROOT)).split("/src/")[-1]


def callers_of(*names: str) -> set[str]:
    return {
        short(path)
        for path in PRODUCT
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in names
    }


def test_secrets_are_decrypted_only_where_their_owner_or_a_provider_needs_them() -> None:
    assert callers_of("decrypt") == set(DECRYPTED)


def test_secrets_are_compared_with_presented_values_only() -> None:
    assert callers_of("compare_digest") == set(COMPARED)


def test_a_ticket_stores_masked_texts_alone() -> None:
    """`MaskedText` is made in one place, and every text of a ticket has that type where it is stored."""
    assert callers_of("MaskedText") == {TICKET_TEXTS, MESSAGE_TEXTS}
    written = re.compile(r"(INSERT INTO|UPDATE) support_(messages|notes|tickets)\b", re.IGNORECASE)
    assert {short(path) for path in PRODUCT if any(written.search(text) for text in texts_of(path))} == {TICKET_STORE}
    [store] = [path for path in PRODUCT if short(path) == TICKET_STORE]
    [message] = [node for node in nodes_of(store) if isinstance(node, ast.ClassDef) and node.name == "NewTicketMessage"]
    typed = {
        (function.name, argument.arg): ast.unparse(argument.annotation or ast.Constant(None))
        for function in nodes_of(store)
        if isinstance(function, ast.AsyncFunctionDef)
        for argument in function.args.args
        if argument.arg in ("subject", "body")
    }
    assert typed == dict.fromkeys([("save_opened_ticket", "subject"), ("save_ticket_note", "body")], "MaskedText")
    assert "body: MaskedText" in [ast.unparse(node) for node in message.body]


def test_a_conversation_stores_masked_texts_alone() -> None:
    """One function inserts a message, and its text is masked. An erasure only empties texts."""
    inserted = re.compile(r"INSERT INTO conversation_messages\b", re.IGNORECASE)
    # The assistant of notifications has a table of the same name.
    modules = [path for path in PRODUCT if short(path).startswith("orders/")]
    assert {short(path) for path in modules if any(inserted.search(text) for text in texts_of(path))} == {MESSAGE_STORE}
    [store] = [path for path in modules if short(path) == MESSAGE_STORE]
    typed = {
        (function.name, ast.unparse(argument.annotation or ast.Constant(None)))
        for function in nodes_of(store)
        if isinstance(function, ast.AsyncFunctionDef)
        for argument in function.args.args
        if argument.arg == "text"
    }
    assert typed == {("record_message", "MaskedText")}


def test_no_query_reads_the_pin_of_a_delivery() -> None:
    """The PIN of a message is encrypted text that only its delivery decrypts: no query selects it for a comparison."""
    picked = re.compile(r"sealed\s*(->|#>|\?|@>)", re.IGNORECASE)
    assert [short(path) for path in PRODUCT if any(picked.search(text) for text in texts_of(path))] == []
