"""`python -m simreel` is the command `simreel`."""

from simreel.cli import main

if __name__ == "__main__":
    main()
