"""From a text to minibatches: corpora, vocabularies, counts, and how well a model predicts.

Knows no network: what a model is begins in `models`.
"""
