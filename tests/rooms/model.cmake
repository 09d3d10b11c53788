# Tests of the model room, one line a binary.
