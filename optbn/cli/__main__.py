"""`python -m optbn.cli`: the command line without its console script."""

from optbn.cli import main

main()
