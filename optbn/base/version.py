"""The version: one line, read by the package, its files and its workers."""

__version__ = "0.1.0"
