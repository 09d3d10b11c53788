nustream_benchmark(benchmark_users users.cpp LINK nustream_service)
