target_sources(nustream_service PRIVATE chart/chart.cpp chart/scale.cpp)
