# Tests of the cli room, one line a binary.
