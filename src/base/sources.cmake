target_sources(nustream_core PRIVATE base/canonical.cpp base/error.cpp)
