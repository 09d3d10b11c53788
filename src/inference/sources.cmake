find_package(Eigen3 REQUIRED)
target_link_libraries(nustream_core PRIVATE $<BUILD_INTERFACE:Eigen3::Eigen>)
target_sources(nustream_core PRIVATE
  inference/glm_scale.cpp
  inference/local_bounds.cpp
  inference/local_collector.cpp
  inference/local_mechanism.cpp
  inference/local_solver.cpp)
