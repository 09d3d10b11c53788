# Tests of the inference room.
nustream_test(inference_test quick unit/inference_test.cpp unit/average_plan_test.cpp)
nustream_test(path_status_test quick unit/path_status_test.cpp unit/long_run_test.cpp)
nustream_test(table_descent_test quick statistical/inference_table_descent_test.cpp)
