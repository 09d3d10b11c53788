# Tests of local privacy: the core's files in inference/, and streaming/local.
find_package(Eigen3 REQUIRED)
nustream_test(local_inference_test quick unit/local_bounds_test.cpp unit/local_mechanism_test.cpp
              unit/local_collector_test.cpp unit/local_solver_test.cpp statistical/local_mechanism_test.cpp
              LINK Eigen3::Eigen)
