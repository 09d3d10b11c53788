find_package(fmt REQUIRED)
add_executable(benchmark_descent descent.cpp harness.cpp)
target_link_libraries(benchmark_descent PRIVATE nustream_core nustream_compile fmt::fmt)
