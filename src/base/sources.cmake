target_sources(nustream_core PRIVATE base/error.cpp)
