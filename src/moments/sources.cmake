target_sources(nustream_core PRIVATE
  moments/batch_sums.cpp
  moments/budget.cpp
  moments/choice.cpp
  moments/encoding.cpp
  moments/estimate.cpp
  moments/expected_error.cpp
  moments/gap_noise.cpp
  moments/growth.cpp
  moments/instruments.cpp
  moments/interval.cpp
  moments/lane.cpp
  moments/normal_equations.cpp
  moments/open_sums.cpp
  moments/participation.cpp
  moments/recurrent_stages.cpp
  moments/response_spread.cpp
  moments/running_sums.cpp
  moments/sampling.cpp
  moments/schedule.cpp
  moments/shape.cpp
  moments/stage_noise.cpp
  moments/steadiness.cpp
  moments/sum_kernel.cpp
  moments/sum_kernel_baseline.cpp
  moments/table_choice.cpp
  moments/triangle.cpp)

# Eigen inside, as in the inference room.
set_source_files_properties(
  moments/gap_noise.cpp moments/growth.cpp moments/instruments.cpp moments/interval.cpp moments/normal_equations.cpp moments/recurrent_stages.cpp moments/response_spread.cpp moments/sampling.cpp
  moments/steadiness.cpp moments/triangle.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Sanitized>:-fno-sanitize=null,alignment,object-size,vptr,pointer-overflow,thread>")

# One kernel for each instruction set, chosen at run time. Each is compiled alone, with the names of its own packs.
set_source_files_properties(moments/sum_kernel_baseline.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_sources(nustream_core PRIVATE moments/sum_kernel_avx2.cpp moments/sum_kernel_avx512.cpp)
  set_source_files_properties(moments/sum_kernel_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2")
  set_source_files_properties(moments/sum_kernel_avx512.cpp PROPERTIES
    COMPILE_OPTIONS "-mavx512f;-mavx512dq;-mprefer-vector-width=512")
endif()
