nustream_benchmark(benchmark_users users.cpp LINK nustream_service)
# A whole replay by user, from a pipe.
nustream_benchmark(benchmark_users_replay users_replay.cpp LINK fmt::fmt)
