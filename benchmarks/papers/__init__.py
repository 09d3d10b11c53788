"""Draws the papers' figures again and makes docs/reproduction.md of them. benchmarks/figures starts it. It needs
nothing but Python's own library."""
