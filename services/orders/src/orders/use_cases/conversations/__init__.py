"""Conversations of buyers and vendors (decision 150).

**The caller's unit of work shows the conversation, the service's writes.** A third party sees none (404).

**A number with as many digits as a delivery PIN is masked before it is stored**, of either party
(`domain/message_texts.py`): a PIN releases money. The answer says so and why.

**A message notifies its reader at most once a minute for each conversation**; notifications sends no push to a reader
whose stream is open. A block of one conversation holds for all conversations of its two parties.

**Support reads a conversation through a dispute, a return or a reported message only**, by a row policy, and each
read is recorded.

**An offer is a message of the vendor with a price for the buyer**; the checkout of the buyer accepts it once
(`domain/offered_prices.py`, decision 160).

**Images are private.** An upload is recorded before its file is stored; the message that shows it makes it readable for
the readers of the conversation (decision 169).
"""
