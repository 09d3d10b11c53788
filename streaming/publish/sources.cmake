target_sources(nustream_service PRIVATE 
  publish/added_sums.cpp publish/age_spend.cpp publish/clipped.cpp publish/combined_model.cpp publish/epsilons.cpp publish/estimand.cpp publish/intervals.cpp publish/original_units.cpp publish/promise.cpp publish/reject_lines.cpp
  publish/release_json.cpp publish/release_format.cpp publish/released_sums.cpp publish/reported.cpp publish/solved_instruments.cpp publish/status.cpp
  publish/strength.cpp)
