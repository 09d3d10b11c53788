# Tests of the kafka room. Those on a real broker start it once for the whole binary.
