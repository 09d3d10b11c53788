nustream_benchmark(benchmark_replay replay_speed.cpp LINK nustream_service fmt::fmt)
