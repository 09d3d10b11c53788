# Tests of the journal room, one line a binary.
