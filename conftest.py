"""Lets pytest hold the chapters' recordings against what they show today."""

pytest_plugins = ["book.recording.regression"]
