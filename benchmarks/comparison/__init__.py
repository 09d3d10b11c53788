"""Compares nustream with its peers. benchmarks/compare starts it. Where no peer is installed, it needs nothing but
Python's own library."""
