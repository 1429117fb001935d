"""What the book needs beyond Jupyter Book, in three rooms; arrows run up this list only.

`recording` makes notebooks of the chapters, executes them and says whether what they show still holds, `site`
builds pages from that, and `proof` measures how firm it is.
"""
