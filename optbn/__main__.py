"""The program `optbn`, and `python -m optbn`: Ctrl-C while it starts is one line, not a traceback."""

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from optbn.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("optbn: interrupted\n")
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
