# Tests of the record room, one line a binary.
