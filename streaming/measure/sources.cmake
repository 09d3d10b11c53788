target_sources(nustream_service PRIVATE
  measure/fit.cpp measure/measure.cpp measure/ranges_plan.cpp measure/values.cpp)
