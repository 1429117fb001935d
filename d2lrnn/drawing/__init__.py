"""Figures, curves, diagrams and explorers: what a page shows.

Knows no text and no model: those come as numbers and functions.
"""
