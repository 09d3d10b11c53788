target_sources(nustream_service PRIVATE 
  publish/clipped.cpp publish/combined_model.cpp publish/epsilons.cpp publish/growth.cpp publish/intervals.cpp publish/original_units.cpp publish/promise.cpp publish/reject_lines.cpp
  publish/release_json.cpp publish/released_sums.cpp publish/reported.cpp
  publish/instruments.cpp)
