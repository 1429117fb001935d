"""Recurrent language models, and what any model is to the rest of the package (`contract`).

Trains nothing and writes nothing: those are `training` and `writing`.
"""
