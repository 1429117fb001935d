"""Gradients written out by hand, and the checks that they are right; NumPy, in float64.

Knows no PyTorch model: a chapter brings those beside them.
"""
