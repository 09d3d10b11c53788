target_sources(nustream_service PRIVATE csv/export.cpp csv/flat_release.cpp)
