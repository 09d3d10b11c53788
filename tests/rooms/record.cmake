# Tests of the record room, one line a binary.
nustream_test(record_test quick unit/record_number_test.cpp unit/record_timestamp_test.cpp unit/record_row_test.cpp
              unit/record_indicators_test.cpp unit/record_weight_test.cpp
              property/record_number_property_test.cpp property/record_timestamp_property_test.cpp)
