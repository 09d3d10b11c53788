"""The papers' figures, drawn again, and docs/reproduction.md made of them. Started by benchmarks/figures; needs nothing
but Python's own library."""
