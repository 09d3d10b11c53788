# Tests of the secrets and journal rooms, one line a binary.
nustream_test(journal_unit_test quick SEPARATE unit/journal_file_journal_test.cpp unit/journal_ledger_chain_test.cpp unit/journal_release_chain_test.cpp unit/journal_budget_account_test.cpp
              unit/journal_state_test.cpp unit/journal_witness_test.cpp unit/journal_ledger_epochs_test.cpp unit/journal_folder_witness_test.cpp unit/journal_lost_epochs_test.cpp unit/journal_lost_account_test.cpp unit/journal_completion_test.cpp unit/journal_rotate_key_test.cpp
              unit/journal_posix_disk_test.cpp
              support/simulated_disk.cpp
              LINK nustream_service)
nustream_test(secrets_unit_test quick unit/secrets_key_file_test.cpp unit/secrets_seal_test.cpp
              unit/secrets_memory_test.cpp unit/secrets_key_place_test.cpp unit/secrets_signature_test.cpp
              LINK nustream_service OpenSSL::Crypto)
nustream_test(journal_crash_test quick property/journal_crash_test.cpp support/simulated_disk.cpp
              LINK nustream_service)

# The rooms journal, secrets and users are compiled once more with kill points, for the fault tests alone: nothing that is
# shipped links this library.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb>=7.8)
find_package(simdjson REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
get_target_property(journal_sources nustream_service SOURCES)
list(FILTER journal_sources INCLUDE REGEX "^(journal|secrets|users)/")
list(TRANSFORM journal_sources PREPEND ${PROJECT_SOURCE_DIR}/streaming/)
add_library(nustream_journal_faulty STATIC ${journal_sources})
nustream_replaced(nustream_service faulty ${journal_sources})
target_compile_definitions(nustream_journal_faulty PUBLIC NUSTREAM_FAILPOINTS)
target_include_directories(nustream_journal_faulty PUBLIC ${PROJECT_SOURCE_DIR}/streaming)
target_link_libraries(nustream_journal_faulty PUBLIC nustream_core nustream_compile
                      PkgConfig::SODIUM PkgConfig::ROCKSDB simdjson::simdjson Threads::Threads ZLIB::ZLIB)

add_executable(journal_child fault/journal_child.cpp)
target_include_directories(journal_child PRIVATE support)
target_link_libraries(journal_child PRIVATE nustream_journal_faulty)

nustream_test(journal_kill_test full fault/journal_kill_test.cpp LINK nustream_journal_faulty)
target_compile_definitions(journal_kill_test PRIVATE NUSTREAM_JOURNAL_CHILD="$<TARGET_FILE:journal_child>")
add_dependencies(journal_kill_test journal_child)

if(NOT NUSTREAM_FAILPOINTS AND TARGET nustream)
  nustream_test(journal_release_build_test quick fault/journal_release_build_test.cpp)
  target_compile_definitions(journal_release_build_test PRIVATE
    NUSTREAM_JOURNAL_CHILD="$<TARGET_FILE:journal_child>" NUSTREAM_COMMAND="$<TARGET_FILE:nustream>"
    NUSTREAM_SERVICE_ARCHIVE="$<TARGET_FILE:nustream_service>")
  add_dependencies(journal_release_build_test journal_child nustream)
endif()
