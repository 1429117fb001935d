"""What Sphinx is told beyond Jupyter Book: the recordings to show, and what a page loads and says of itself.

Executes no chapter by itself and judges none: that is `recording`.
"""
