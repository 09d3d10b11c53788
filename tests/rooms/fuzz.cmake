# Fuzzing: each kind of input as a target of libFuzzer's where the build has its coverage (the preset fuzz), else all of
# them as one test over the committed corpora.
set(nustream_fuzz_kinds csv json compressed toml state checkpoint ledger key message segment)
list(TRANSFORM nustream_fuzz_kinds REPLACE "(.+)" "fuzz/\\1.cpp" OUTPUT_VARIABLE nustream_fuzz_sources)
if(NUSTREAM_SANITIZE MATCHES "fuzzer-no-link")
  foreach(kind IN LISTS nustream_fuzz_kinds)
    add_executable(fuzz_${kind} fuzz/${kind}.cpp)
    target_compile_definitions(fuzz_${kind} PRIVATE NUSTREAM_LIBFUZZER)
    target_include_directories(fuzz_${kind} PRIVATE fuzz support)
    target_link_libraries(fuzz_${kind} PRIVATE nustream_service nustream_compile)
    target_link_options(fuzz_${kind} PRIVATE -fsanitize=fuzzer)
  endforeach()
  # With short blocks, which are quick to set up.
  target_sources(fuzz_checkpoint PRIVATE ${PROJECT_SOURCE_DIR}/src/noise/source.cpp)
  target_compile_definitions(fuzz_checkpoint PRIVATE NUSTREAM_BLOCK_SAMPLES=32)
  target_include_directories(fuzz_checkpoint PRIVATE ${PROJECT_SOURCE_DIR}/src/noise)
  nustream_replaced(nustream_core ${PROJECT_SOURCE_DIR}/src/noise/source.cpp)
  # The two files of the kafka room that have no broker behind them.
  target_sources(fuzz_message PRIVATE ${PROJECT_SOURCE_DIR}/streaming/kafka/dead_letter_size.cpp
                                      ${PROJECT_SOURCE_DIR}/streaming/kafka/topic_bookmark.cpp)
else()
  nustream_test(fuzz_corpus_test quick SEPARATE fuzz/corpus_test.cpp ${nustream_fuzz_sources}
                LINK nustream_service)
  target_include_directories(fuzz_corpus_test PRIVATE fuzz)
  target_compile_definitions(fuzz_corpus_test PRIVATE NUSTREAM_FUZZ_CORPUS="${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus")
endif()
