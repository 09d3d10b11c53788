# target_sources(nustream_core PRIVATE noise/….cpp): paths are relative to src/.
target_sources(nustream_core PRIVATE
  noise/coefficients.cpp
  noise/correlation.cpp
  noise/dense.cpp
  noise/direct.cpp
  noise/elliptic.cpp
  noise/fft.cpp
  noise/forward.cpp
  noise/generator_factory.cpp
  noise/noise_matrix.cpp
  noise/rational.cpp
  noise/rational_nu_ftrl.cpp
  noise/restarted.cpp
  noise/tree.cpp)

target_sources(nustream_core PRIVATE
  noise/gaussian.cpp
  noise/grid.cpp
  noise/hkdf.cpp
  noise/kernels_baseline.cpp
  noise/key_ring.cpp
  noise/keystream.cpp
  noise/recurrent.cpp
  noise/seed_noise.cpp
  noise/source.cpp)

# The vectorised loops have one source and a file for each instruction set. They are optimised in every build type but the
# sanitizers', which would take half a minute for each. They do without errno for √, or they would not vectorise.
set(nustream_kernel_options $<$<NOT:$<CONFIG:Sanitized>>:-O3> -fno-math-errno)
set_source_files_properties(noise/kernels_baseline.cpp PROPERTIES COMPILE_OPTIONS "${nustream_kernel_options}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_sources(nustream_core PRIVATE noise/kernels_avx2.cpp noise/kernels_avx512.cpp)
  set_source_files_properties(noise/kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "${nustream_kernel_options};-mavx2")
  set_source_files_properties(noise/kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS
    "${nustream_kernel_options};-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mprefer-vector-width=512")
endif()
