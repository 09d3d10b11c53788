target_sources(nustream_core PRIVATE
  ranges/column_stage.cpp
  ranges/columns.cpp
  ranges/coordinates.cpp
  ranges/histogram.cpp
  ranges/likelihood_fit.cpp
  ranges/linear_fit.cpp
  ranges/noise_draws.cpp
  ranges/part_counts.cpp
  ranges/part_sums.cpp
  ranges/pilot.cpp
  ranges/residual_tails.cpp
  ranges/rows.cpp
  ranges/scores.cpp
  ranges/sizes.cpp
  ranges/stride.cpp
  ranges/user_runs.cpp
  ranges/working_rows.cpp)

# Eigen inside, as in the inference room.
set_source_files_properties(
  ranges/coordinates.cpp ranges/likelihood_fit.cpp ranges/linear_fit.cpp ranges/pilot.cpp
  ranges/residual_tails.cpp ranges/scores.cpp
  ranges/working_rows.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Sanitized>:-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,thread>")
