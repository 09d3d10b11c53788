target_sources(nustream_service PRIVATE
  engine/budget_advice.cpp engine/epoch_decision.cpp engine/epoch_ledger.cpp engine/estimator.cpp engine/going_on.cpp engine/noise_ahead.cpp engine/noise_feed.cpp engine/release_encoder.cpp engine/seal_batch.cpp engine/spent.cpp engine/stepper.cpp engine/subject.cpp
  engine/sums_reach.cpp engine/table_design.cpp)
