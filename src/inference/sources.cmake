# Boost.Math and Eigen are used inside only: no header of theirs reaches a user of the library.
find_package(Boost REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
target_link_libraries(nustream_core PRIVATE $<BUILD_INTERFACE:Boost::headers> $<BUILD_INTERFACE:Eigen3::Eigen>)
target_sources(nustream_core PRIVATE
  inference/adassp.cpp
  inference/average_noise.cpp
  inference/average_plan.cpp
  inference/expected_error.cpp
  inference/first_stage.cpp
  inference/glm_scale.cpp
  inference/interval.cpp
  inference/least_squares.cpp
  inference/limits_cost.cpp
  inference/local_bounds.cpp
  inference/local_collector.cpp
  inference/local_mechanism.cpp
  inference/local_solver.cpp
  inference/moments.cpp
  inference/long_run.cpp
  inference/path_status.cpp
  inference/runs_status.cpp
  inference/sandwich.cpp
  inference/stream_bound.cpp
  inference/swing.cpp
  inference/symmetric.cpp
  inference/table_descent.cpp
  inference/two_stage_descent.cpp
  inference/two_stage_rules.cpp)

# Under Eigen's templates the undefined-behaviour sanitizer's checks of pointers take most of the time of a build; those
# of arithmetic stay, and so does the address sanitizer. Nothing here is shared between threads.
set_source_files_properties(
  inference/adassp.cpp inference/average_noise.cpp inference/first_stage.cpp inference/least_squares.cpp
  inference/local_solver.cpp inference/moments.cpp inference/sandwich.cpp inference/symmetric.cpp
  inference/two_stage_descent.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Sanitized>:-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,thread>")
