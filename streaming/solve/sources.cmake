target_sources(nustream_service PRIVATE solve/report.cpp solve/solve.cpp)
