target_sources(nustream_service PRIVATE solve/instruments.cpp solve/report.cpp solve/solve.cpp)
