# Tests of the rooms moments and ranges, one line a binary.
find_package(Eigen3 REQUIRED NO_MODULE)
nustream_test(moments_test quick unit/moments_budget_test.cpp unit/moments_equations_test.cpp
              unit/moments_encoding_test.cpp unit/moments_instruments_test.cpp golden/moments_sums_test.cpp)
nustream_test(moments_property_test quick property/moments_adassp_test.cpp property/moments_batch_sums_test.cpp property/moments_centre_test.cpp property/moments_growth_test.cpp property/moments_sum_kernel_test.cpp
              property/moments_noise_test.cpp property/moments_participation_test.cpp property/moments_stage_noise_test.cpp property/moments_twin_test.cpp LINK Eigen3::Eigen)
nustream_test(moments_statistical_test full statistical/moments_instruments_test.cpp statistical/moments_interval_test.cpp)
nustream_test(ranges_test quick unit/ranges_parts_test.cpp unit/ranges_choices_test.cpp unit/ranges_fit_test.cpp unit/ranges_intervals_test.cpp
              unit/ranges_likelihood_test.cpp unit/ranges_one_value_test.cpp unit/ranges_pilot_error_test.cpp unit/ranges_residual_tails_test.cpp
              unit/ranges_units_test.cpp unit/ranges_users_test.cpp unit/ranges_users_fit_test.cpp LINK Eigen3::Eigen SEPARATE)
foreach(test moments_test moments_property_test moments_statistical_test ranges_test)
  target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()
nustream_test(expected_error_test quick unit/expected_error_test.cpp)
nustream_test(table_choice_test quick unit/table_choice_test.cpp)
nustream_test(limits_cost_test quick unit/limits_cost_test.cpp LINK GTest::gmock)
