"""From a model and a corpus to a trained model: the loop, its history, files to go on from.

Generates no text: that is `writing`.
"""
