# Tests of the privacy room, one line a binary.
nustream_test(privacy_unit_test quick unit/privacy_sensitivity_test.cpp unit/privacy_spend_test.cpp
              unit/privacy_ledger_test.cpp unit/privacy_plan_test.cpp)
nustream_test(privacy_golden_test quick golden/privacy_sensitivity_test.cpp golden/privacy_epsilon_test.cpp
              golden/privacy_plan_test.cpp)
nustream_test(privacy_property_test quick property/privacy_sensitivity_property_test.cpp
              property/privacy_epsilon_property_test.cpp)
