find_package(ZLIB REQUIRED)
nustream_benchmark(benchmark_decode decode.cpp LINK nustream_service ZLIB::ZLIB)
