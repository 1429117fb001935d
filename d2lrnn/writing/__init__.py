"""Text that a trained model writes, and the explorer in which a reader lets it.

Trains nothing.
"""
