target_sources(nustream_service PRIVATE report/document.cpp report/report.cpp)
