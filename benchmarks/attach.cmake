# On a real broker, which the tests' support starts.
if(TARGET nustream_kafka_support)
  nustream_benchmark(benchmark_attach_consume attach_consume.cpp
                     LINK nustream_service nustream_kafka_support fmt::fmt)
  target_include_directories(benchmark_attach_consume PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
endif()
