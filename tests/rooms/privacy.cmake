# Tests of the privacy room, one line a binary.
nustream_test(privacy_unit_test quick unit/privacy_sensitivity_test.cpp unit/privacy_spend_test.cpp
              unit/privacy_group_test.cpp unit/privacy_ledger_test.cpp unit/privacy_plan_test.cpp)
nustream_test(privacy_golden_test quick golden/privacy_sensitivity_test.cpp golden/privacy_epsilon_test.cpp
              golden/privacy_plan_test.cpp)
nustream_test(privacy_property_test quick property/privacy_sensitivity_property_test.cpp
              property/privacy_epsilon_property_test.cpp)
nustream_test(privacy_restarted_test quick property/privacy_restarted_test.cpp)
nustream_test(privacy_windows_test quick property/privacy_windows_test.cpp)

# Correlations fitted to a loss.
find_package(Eigen3 REQUIRED)
nustream_test(privacy_optimised_test quick golden/privacy_optimised_test.cpp golden/privacy_optimised_descent_test.cpp
              golden/privacy_known_length_test.cpp LINK Eigen3::Eigen)

# The same bits on another architecture.
add_executable(optimised_bits campaign/optimised_bits.cpp)
target_link_libraries(optimised_bits PRIVATE nustream_core nustream_compile)
target_include_directories(optimised_bits PRIVATE support)
add_test(NAME optimised_aarch64 COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/campaign/optimised_aarch64.sh ${PROJECT_SOURCE_DIR}
         ${CMAKE_CURRENT_BINARY_DIR}/optimised_aarch64 $<TARGET_FILE:optimised_bits>)
set_tests_properties(optimised_aarch64 PROPERTIES LABELS campaign SKIP_RETURN_CODE 77 TIMEOUT 900)
