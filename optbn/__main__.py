"""`python -m optbn`: the command line without its console script."""

from optbn.cli import main

main()
