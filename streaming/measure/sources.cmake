target_sources(nustream_service PRIVATE
  measure/measure.cpp measure/ranges_plan.cpp measure/values.cpp)
