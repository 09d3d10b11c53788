# Tests of the inference room.
nustream_test(inference_test quick unit/inference_test.cpp unit/average_plan_test.cpp)
nustream_test(path_status_test quick unit/path_status_test.cpp unit/runs_status_test.cpp unit/swing_test.cpp
              unit/long_run_test.cpp)
nustream_test(table_descent_test quick statistical/inference_table_descent_test.cpp)
find_package(Eigen3 REQUIRED)
nustream_test(stream_bound_test quick statistical/inference_stream_bound_test.cpp LINK Eigen3::Eigen)
nustream_test(two_stage_rules_test quick statistical/inference_two_stage_rules_test.cpp LINK Eigen3::Eigen)
