"""The pure core: orders, their transitions, their prices, and the evaluation of PINs."""
