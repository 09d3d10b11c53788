target_sources(nustream_service PRIVATE log/entry.cpp log/log.cpp)
