target_sources(nustream_core PRIVATE
  record/decimal.cpp
  record/number.cpp
  record/row.cpp
  record/timestamp.cpp)
