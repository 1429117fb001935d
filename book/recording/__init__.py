"""Chapters as notebooks: made from their source, executed, compared, and held against what they came from.

Knows neither the site nor the proofs, which both stand on it.
"""
