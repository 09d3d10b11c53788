# Tests of the lane room, one line a binary.
