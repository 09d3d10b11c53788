target_sources(nustream_service PRIVATE report/document.cpp report/files.cpp report/report.cpp)
