"""What is published, installed as a user would: `python -m tests.release`."""
