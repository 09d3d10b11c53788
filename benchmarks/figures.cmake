# The figures that decide: how close the private estimates come, against theory and against each other.
add_executable(retail_privacy_error retail_privacy_error.cpp)
target_link_libraries(retail_privacy_error PRIVATE nustream_service)
target_compile_definitions(retail_privacy_error PRIVATE NUSTREAM_ROOT_DIR="${PROJECT_SOURCE_DIR}")
add_executable(mean_variance_ratio mean_variance_ratio.cpp)
target_link_libraries(mean_variance_ratio PRIVATE nustream_core nustream_compile fmt::fmt)
