# Tests of the privacy room, one line a binary.
nustream_test(privacy_golden_test quick golden/privacy_sensitivity_test.cpp)
