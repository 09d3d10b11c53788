target_sources(nustream_core PRIVATE
  privacy/dense_encoder.cpp
  privacy/encoder_norm.cpp
  privacy/epsilon.cpp
  privacy/exponential_encoder.cpp
  privacy/ledger.cpp
  privacy/mills_ratio.cpp
  privacy/nu_encoder.cpp
  privacy/numeric_encoder.cpp
  privacy/participation.cpp
  privacy/plan.cpp
  privacy/sensitivity.cpp
  privacy/spend.cpp
  privacy/stationary.cpp
  privacy/transfer.cpp
  privacy/tree_encoder.cpp
  privacy/window_encoder.cpp
  privacy/zcdp.cpp)
