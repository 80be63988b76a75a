"""Figures of simreel, measured: `python -m benchmarks NAME`."""
