target_sources(nustream_core PRIVATE
  moments/batch_sums.cpp
  moments/budget.cpp
  moments/choice.cpp
  moments/encoding.cpp
  moments/estimate.cpp
  moments/expected_error.cpp
  moments/gap_noise.cpp
  moments/instruments.cpp
  moments/interval.cpp
  moments/lane.cpp
  moments/normal_equations.cpp
  moments/participation.cpp
  moments/recurrent_stages.cpp
  moments/running_sums.cpp
  moments/sampling.cpp
  moments/schedule.cpp
  moments/shape.cpp
  moments/stage_noise.cpp
  moments/triangle.cpp)

# Eigen inside, as in the inference room.
set_source_files_properties(
  moments/gap_noise.cpp moments/instruments.cpp moments/interval.cpp moments/normal_equations.cpp moments/recurrent_stages.cpp moments/sampling.cpp
  moments/triangle.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Sanitized>:-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,thread>")
