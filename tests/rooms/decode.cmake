# Tests of the decode room, one line a binary.
