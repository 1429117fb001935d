"""What the book needs beyond Jupyter Book: recording, comparing outputs, and the site's extension.

`notebooks` reads and writes chapters, `portable` turns MyST into plain Markdown, `setup_cell` writes the cell
that installs the package, `provenance` says whether a recording is still true, `margins` tabulates how firm
it is, `record` makes recordings, `compare` compares outputs. `extension` serves recordings to Sphinx, with
`bundle`, `meta` and `glossary` for what a page loads, says of itself and links to. `rerun` executes a
recording again; `matrix` does so under the `settings` of other machines, `mutants` with one of the `faults`
planted, `times` with a clock. `launch` runs the recordings where there is nothing but them, and `handout`
writes the chapters without solutions. Arrows run in that order.
"""
