target_sources(nustream_core PRIVATE
  record/number.cpp
  record/read_field.cpp
  record/row.cpp
  record/timestamp.cpp)
