# Tests of the users room of the core, one line a binary.
nustream_test(users_test quick unit/users_gate_test.cpp unit/users_failing_table_test.cpp
              unit/users_period_test.cpp unit/users_placement_test.cpp
              golden/users_sums_test.cpp)
nustream_test(users_property_test quick property/users_table_test.cpp property/users_sensitivity_test.cpp
              property/users_contribution_test.cpp property/users_charge_test.cpp property/users_folded_test.cpp
              property/users_over_windows_test.cpp)
nustream_test(users_lane_test quick SEPARATE property/users_lane_test.cpp property/users_sums_test.cpp)
foreach(test users_test users_property_test users_lane_test)
  target_include_directories(${test} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()
