# target_sources(nustream_core PRIVATE noise/….cpp): paths are relative to src/.
target_sources(nustream_core PRIVATE
  noise/coefficients.cpp
  noise/correlation.cpp
  noise/dense.cpp
  noise/direct.cpp
  noise/elliptic.cpp
  noise/fft.cpp
  noise/generator_factory.cpp
  noise/rational.cpp
  noise/rational_nu_ftrl.cpp
  noise/tree.cpp)
