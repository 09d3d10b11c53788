# Tests of the privacy room, one line a binary.
