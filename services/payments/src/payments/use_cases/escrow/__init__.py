"""Money held for an order: hold, freeze, release.

`payments.escrow_released`, `escrow_refunded` and `charge_disputed` carry `escrow`: the amounts held, locked, and
released to each owner after the movement (decision 52). `python -m payments publish-escrows` publishes the state of
every order once (`payments.escrow_stated`), for services that project it from a later version on.
"""
