target_sources(nustream_service PRIVATE
  estimate/comparison.cpp estimate/descent_run.cpp estimate/estimate.cpp estimate/path.cpp estimate/report.cpp
  estimate/table.cpp)
