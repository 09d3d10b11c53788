target_sources(nustream_service PRIVATE report/report.cpp)
