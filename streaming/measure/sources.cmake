target_sources(nustream_service PRIVATE
  measure/fit.cpp measure/measure.cpp measure/numbers_instead.cpp measure/ranges_plan.cpp measure/values.cpp)
