"""What the book needs beyond Jupyter Book: recording, comparing outputs, and the site's extension.

`notebooks` reads and writes chapters, `portable` turns MyST into plain Markdown, `provenance` says whether a
recording is still true, `record` makes recordings, `compare` compares outputs, `extension` serves recordings
to Sphinx. Arrows run in that order.
"""
