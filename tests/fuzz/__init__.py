"""Hostile files for every reader: `python -m tests.fuzz --seconds 3600`; a short form is tests/fuzz/test_readers.py.

A target (targets.py) is a reader with valid files to start from and what must hold of everything it accepts. mutate.py
damages files, __main__.py does so for as long as it is told in processes that may crash, hang or run out of memory.
What it finds goes to tests/fuzz/finds/<target>/ and is read again by every run of the tests.
"""
