target_sources(nustream_core PRIVATE
  privacy/dense_encoder.cpp
  privacy/encoder_norm.cpp
  privacy/epsilon.cpp
  privacy/exponential_encoder.cpp
  privacy/group.cpp
  privacy/ledger.cpp
  privacy/mean_excess.cpp
  privacy/nu_encoder.cpp
  privacy/numeric_encoder.cpp
  privacy/participation.cpp
  privacy/plan.cpp
  privacy/restarted_encoder.cpp
  privacy/sensitivity.cpp
  privacy/spend.cpp
  privacy/stationary.cpp
  privacy/transfer.cpp
  privacy/tree_encoder.cpp
  privacy/window_encoder.cpp
  privacy/windows.cpp
  privacy/windows_column.cpp
  privacy/windows_search.cpp
  privacy/windows_trial.cpp
  privacy/zcdp.cpp)

# Correlations fitted to a loss.
target_sources(nustream_core PRIVATE
  privacy/optimised/banded_loss.cpp
  privacy/optimised/dense.cpp
  privacy/optimised/descent.cpp
  privacy/optimised/falling.cpp
  privacy/optimised/gram.cpp
  privacy/optimised/known_length.cpp
  privacy/optimised/loss.cpp
  privacy/optimised/multipliers.cpp
  privacy/optimised/poles.cpp
  privacy/optimised/prefix_root.cpp
  privacy/optimised/prefix_sums.cpp
  privacy/optimised/quasi_newton.cpp
  privacy/optimised/rational.cpp
  privacy/optimised/toeplitz.cpp
  privacy/optimised/whitening.cpp)
