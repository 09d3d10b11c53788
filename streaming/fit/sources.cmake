target_sources(nustream_service PRIVATE
  fit/columns.cpp fit/fit.cpp fit/page.cpp fit/report.cpp fit/table.cpp
  fit/written_config.cpp)
