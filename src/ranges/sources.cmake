target_sources(nustream_core PRIVATE
  ranges/column_stage.cpp
  ranges/columns.cpp
  ranges/coordinates.cpp
  ranges/histogram.cpp
  ranges/linear_fit.cpp
  ranges/noise_draws.cpp
  ranges/part_sums.cpp
  ranges/rows.cpp
  ranges/sizes.cpp
  ranges/stride.cpp)

# Eigen inside, as in the inference room.
set_source_files_properties(
  ranges/coordinates.cpp ranges/linear_fit.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Sanitized>:-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,thread>")
