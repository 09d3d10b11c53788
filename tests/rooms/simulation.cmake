# The simulation runs the product as it is shipped, except for what it stands on: some files are linked in the place of the
# library's own.
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(FFTW3 REQUIRED IMPORTED_TARGET fftw3)
add_library(nustream_simulation STATIC
  simulation/attached_case.cpp simulation/attached_end.cpp simulation/attached_history.cpp simulation/attached_watch.cpp
  simulation/coupled_pair.cpp simulation/coupled_run.cpp simulation/coupled_sums.cpp simulation/coupled_users.cpp
  simulation/coupling.cpp
  simulation/folder_case.cpp simulation/folder_end.cpp simulation/folder_history.cpp simulation/folder_watch.cpp
  simulation/history.cpp simulation/lane_reference.cpp simulation/printed_path.cpp simulation/reference_users.cpp simulation/shown_pages.cpp
  simulation/simulated_service.cpp simulation/stored_users.cpp simulation/user_records.cpp
  support/random_settings.cpp support/random_stream.cpp support/random_sums.cpp support/simulated_broker.cpp support/simulated_disk.cpp)
target_include_directories(nustream_simulation PUBLIC simulation support)
target_link_libraries(nustream_simulation PUBLIC nustream_service nustream_core nustream_compile fmt::fmt
                                                 PkgConfig::RDKAFKA)
target_compile_options(nustream_simulation PRIVATE ${nustream_test_flags})
# The clock, the file system and Kafka are simulated, and the noise source has blocks so short that a short stream has many.
set(nustream_simulated_world
  support/simulated_clock.cpp support/simulated_posix_disk.cpp support/simulated_group_consumer.cpp
  support/simulated_partition_reader.cpp support/simulated_producer.cpp support/simulated_records.cpp
  support/simulated_topic_checks.cpp)
set(replaced kafka/client.cpp kafka/group_consumer.cpp kafka/message.cpp kafka/partition_reader.cpp kafka/topic_checks.cpp
             kafka/transactional_producer.cpp
             journal/posix_disk.cpp)
list(TRANSFORM replaced PREPEND ${PROJECT_SOURCE_DIR}/streaming/)
# Functions that the simulation has no version of come from the library's files, so that each is an object of its own.
set_source_files_properties(${replaced} TARGET_DIRECTORY nustream_service PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
nustream_replaced(nustream_core short_blocks ${PROJECT_SOURCE_DIR}/src/noise/source.cpp)
add_library(nustream_short_blocks OBJECT ${PROJECT_SOURCE_DIR}/src/noise/source.cpp)
target_compile_definitions(nustream_short_blocks PRIVATE NUSTREAM_BLOCK_SAMPLES=32)
target_include_directories(nustream_short_blocks PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src/noise)
target_link_libraries(nustream_short_blocks PRIVATE nustream_core nustream_compile)

nustream_test(simulation_test full simulation/simulation_test.cpp ${nustream_simulated_world}
              $<TARGET_OBJECTS:nustream_short_blocks> LINK nustream_simulation)

# Neighbours under coupled noise.
nustream_test(coupling_test full simulation/coupling_test.cpp simulation/coupled_users_test.cpp ${nustream_simulated_world}
              $<TARGET_OBJECTS:nustream_short_blocks> LINK nustream_simulation)

# A lane's transactions by themselves.
nustream_test(lane_transactions_test quick simulation/lane_transactions_test.cpp simulation/attached_measuring_test.cpp
              simulation/measured_lanes_test.cpp ${nustream_simulated_world}
              $<TARGET_OBJECTS:nustream_short_blocks> LINK nustream_simulation GTest::gmock)

# The keys of attached lanes in the memory of their process. It is not built with sanitizers, which keep copies of what they
# watch.
if(NOT NUSTREAM_SANITIZE)
  nustream_test(attach_key_memory_test quick simulation/attached_key_memory_test.cpp ${nustream_simulated_world}
                $<TARGET_OBJECTS:nustream_short_blocks> LINK nustream_simulation GTest::gmock)
  target_include_directories(attach_key_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
endif()
