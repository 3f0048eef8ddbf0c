"""Saved products and followed vendors.

**Savers are notified of a product that is back in stock and of a lower price**, once for each change (decision 149). A
trigger records the change in its own transaction; the loop `publish-saved-product-changes` publishes it to the savers
in batches, one transaction each.
"""
