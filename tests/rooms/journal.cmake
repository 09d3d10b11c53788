# Tests of the secrets and journal rooms, one line a binary.
nustream_test(journal_unit_test quick unit/journal_file_journal_test.cpp LINK nustream_journal_faulty)

find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
find_package(simdjson REQUIRED)
find_package(Threads REQUIRED)

# The two rooms once more with kill points, for the fault tests alone: no other target links this library.
get_target_property(service_sources nustream_service SOURCES)
list(FILTER service_sources INCLUDE REGEX "^(journal|secrets)/")
list(TRANSFORM service_sources PREPEND ${PROJECT_SOURCE_DIR}/streaming/)
add_library(nustream_journal_faulty STATIC ${service_sources})
target_compile_definitions(nustream_journal_faulty PUBLIC NUSTREAM_FAILPOINTS)
target_include_directories(nustream_journal_faulty PUBLIC ${PROJECT_SOURCE_DIR}/streaming)
target_link_libraries(nustream_journal_faulty PUBLIC nustream_core nustream_compile
                      PkgConfig::SODIUM simdjson::simdjson Threads::Threads)
