find_package(OpenSSL REQUIRED)
nustream_benchmark(benchmark_noise noise.cpp LINK OpenSSL::Crypto)
target_include_directories(benchmark_noise PRIVATE ${PROJECT_SOURCE_DIR}/src)
