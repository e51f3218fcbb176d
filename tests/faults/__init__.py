"""Programs killed at random moments: `python -m tests.faults --times 200`; a short form is tests/faults/test_faults.py.

A job (jobs.py) is a command that can be run again. It is killed (SIGKILL, now and then SIGTERM or SIGINT) at a random
moment of its life, again and again, and started on what is left, until it gets through. Then its results must equal
those of a run that nobody disturbed; and after every single kill each file that is there must be whole.
"""
