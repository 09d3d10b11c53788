target_sources(nustream_core PRIVATE lane/encoding.cpp lane/lane.cpp lane/releases.cpp)
