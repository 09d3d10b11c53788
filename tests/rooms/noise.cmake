# Tests of the noise room, one line a binary.
