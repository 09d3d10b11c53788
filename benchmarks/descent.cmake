nustream_benchmark(benchmark_descent descent.cpp LINK fmt::fmt)
# These programs use the private kernels.
nustream_benchmark(benchmark_private_step private_step.cpp LINK fmt::fmt)
target_include_directories(benchmark_private_step PRIVATE ${PROJECT_SOURCE_DIR}/src)
