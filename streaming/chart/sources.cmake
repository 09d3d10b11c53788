target_sources(nustream_service PRIVATE chart/chart.cpp chart/legend.cpp chart/rows.cpp chart/scale.cpp chart/style.cpp chart/text.cpp)
