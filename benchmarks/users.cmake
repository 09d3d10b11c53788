nustream_benchmark(benchmark_users users.cpp LINK nustream_service)
# This program replays a whole stream by user, from a pipe.
nustream_benchmark(benchmark_users_replay users_replay.cpp LINK fmt::fmt)
