target_sources(nustream_core PRIVATE
  record/number.cpp
  record/row.cpp
  record/timestamp.cpp)
