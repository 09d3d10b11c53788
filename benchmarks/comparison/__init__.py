"""nustream beside its peers. Started by benchmarks/compare; needs nothing but Python's own library where no peer is
installed."""
