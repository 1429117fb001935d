"""What the book needs beyond Jupyter Book: recording, comparing outputs, and the site's extension.

`notebooks` reads and writes chapters, `portable` turns MyST into plain Markdown, `setup_cell` writes the cell
that installs the package, `provenance` says whether a recording is still true, `record` makes recordings,
`compare` compares outputs, `extension` serves recordings to Sphinx. Arrows run in that order. `launch` runs
the recordings where there is nothing but them.
"""
