# Tests of the descent and lane rooms, one line a binary.
find_package(ZLIB REQUIRED)
nustream_test(descent_test quick unit/descent_schedule_test.cpp unit/descent_projection_test.cpp
              unit/descent_averaging_test.cpp unit/descent_trail_test.cpp property/descent_clip_test.cpp property/descent_kernel_test.cpp
              property/descent_private_step_test.cpp)
nustream_test(lane_test quick unit/lane_test.cpp unit/lane_encoding_test.cpp property/lane_twin_test.cpp
              property/lane_slicing_test.cpp property/lane_neighbours_test.cpp
              property/lane_momentum_test.cpp)
nustream_test(lane_allocation_test quick property/lane_allocation_test.cpp)
nustream_test(lane_fits_test full golden/lane_fits_test.cpp LINK ZLIB::ZLIB)
foreach(test descent_test lane_test lane_allocation_test lane_fits_test)
  # The private kernels, and shared test support.
  target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()

# Several stages: matrix parameters, instruments, second moments, batches of iterates.
find_package(Eigen3 REQUIRED NO_MODULE)
nustream_test(lane_stages_test quick unit/descent_stages_test.cpp property/lane_clipped_test.cpp property/lane_stages_test.cpp property/lane_public_rows_test.cpp
              golden/inference_trajectories_test.cpp property/lane_weights_test.cpp LINK Eigen3::Eigen)
target_include_directories(lane_stages_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
nustream_test(lane_stages_twin_test quick property/lane_stages_twin_test.cpp)
target_include_directories(lane_stages_twin_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
