"""What shows how firm the course is; README.md says what each module proves and how to run it.

Nothing here is needed to read, run, record or build a chapter.
"""
