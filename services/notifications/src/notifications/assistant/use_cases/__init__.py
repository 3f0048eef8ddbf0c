"""Conversations with the assistant.

`open_turn` opens the turn of a message, `run_turn` produces the reply, `save_turn` saves message and reply. **A turn
is saved completely or not at all**: after a disconnect, failure or timeout nothing remains, and the message can be
sent again. A second message of a conversation in progress is 409, so every reply has the earlier messages as context.
`conversation_turns` holds the turns of all processes; the turn of a dead process expires (`AI_ANSWER_SECONDS` and 30
s). A conversation has at most 200 messages; the model receives at most the newest 20, in complete turns.

**The provider** is selected by `AI_BASE_URL`; `provider` in the response is `openai-compatible` or `built-in`. The
built-in assistant is deterministic, recognizes questions by keywords, and introduces itself. It never replaces a
failing provider: that is 503 with `Retry-After`, or an `error` event. A provider that fails repeatedly
(`PROVIDER_FAILURES_MAX`) is paused with one SEV-3 alert, which closes with the next reply. Failures that a single
question can cause do not count.

**The tools** (`domain/assistant_tools.py`) are a closed list: search the catalog, one product, the caller's orders,
one of them, help articles. The first four are GETs at the orders service under the caller's token and its row
policies. Paths are built here from validated ids and checked again in `clients/marketplace.py`. No tool writes,
accepts an address or reaches a PIN. Staff see only orders that they bought or sell. The provider receives the
conversation and selected fields of results: no token, user id, delivery note or other user's id. PINs, codes, card
numbers and tokens in messages are hidden before they are stored or sent.

**A model's output is untrusted.** Limits apply to tool rounds (four with eight calls each), total time, and the
lengths of reply, line and response (`clients/language_model.py`). Compressed responses and redirects are rejected.
HTML, Markdown links and images, and addresses of other hosts are neutralized word by word
(`domain/reply_sanitizer.py`), so that instructions in a product text can neither change nor leak anything.

**A slow client** slows its own reply down: one event is buffered. A disconnect closes the connection to the provider.
Replies use 200 HTTP connections of their own in each process.
"""
