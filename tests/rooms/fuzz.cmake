# Fuzzing: each kind of input as a target of libFuzzer's where the build has its coverage (the preset fuzz), else all of
# them as one test over the committed corpora.
set(nustream_fuzz_kinds csv json compressed archive kind toml state folder checkpoint ledger key message segment report
    request witness)
list(TRANSFORM nustream_fuzz_kinds REPLACE "(.+)" "fuzz/\\1.cpp" OUTPUT_VARIABLE nustream_fuzz_sources)
if(NUSTREAM_SANITIZE MATCHES "fuzzer-no-link")
  foreach(kind IN LISTS nustream_fuzz_kinds)
    add_executable(fuzz_${kind} fuzz/${kind}.cpp)
    target_compile_definitions(fuzz_${kind} PRIVATE NUSTREAM_LIBFUZZER)
    target_include_directories(fuzz_${kind} PRIVATE fuzz support)
    target_link_libraries(fuzz_${kind} PRIVATE nustream_service nustream_compile)
    target_link_options(fuzz_${kind} PRIVATE -fsanitize=fuzzer)
    # The test is a short run that begins with the committed corpus; the campaign's run is a thousand times as long.
    # Compressed input may expand to a thousand times its bytes, so it gets fewer runs. A frame of zstd may ask for a
    # window of 128 MiB, and 4096 bytes of it may expand to as much, so it gets more memory.
    set(runs 10000)
    set(allocation_mb 64)
    set(resident_mb 256)
    if(kind MATCHES "^(compressed|archive)$")
      set(runs 200)
    endif()
    if(kind MATCHES "^(compressed|archive|segment)$")
      set(allocation_mb 160)
      set(resident_mb 352)
    endif()
    add_test(NAME fuzz_${kind} COMMAND fuzz_${kind} -runs=${runs} -seed=1 -max_len=4096 -timeout=10
             -malloc_limit_mb=${allocation_mb} -rss_limit_mb=${resident_mb} -artifact_prefix=fuzz_${kind}. -verbosity=0
             "${CMAKE_CURRENT_BINARY_DIR}/found_${kind}" "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${kind}")
    # The sanitizer keeps freed memory for a while. If it kept more, that would hide how much the program itself takes.
    set_tests_properties(fuzz_${kind} PROPERTIES LABELS quick TIMEOUT 300
                                                 ENVIRONMENT "ASAN_OPTIONS=quarantine_size_mb=16")
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/found_${kind}")
  endforeach()
  # This target has the noise source with short blocks, which are quick to set up.
  target_sources(fuzz_checkpoint PRIVATE ${PROJECT_SOURCE_DIR}/src/noise/source.cpp)
  target_compile_definitions(fuzz_checkpoint PRIVATE NUSTREAM_BLOCK_SAMPLES=32)
  target_include_directories(fuzz_checkpoint PRIVATE ${PROJECT_SOURCE_DIR}/src/noise)
  nustream_replaced(nustream_core short_blocks ${PROJECT_SOURCE_DIR}/src/noise/source.cpp)
  target_sources(fuzz_folder PRIVATE support/simulated_disk.cpp)
  # These two files of the kafka room have no broker behind them.
  target_sources(fuzz_message PRIVATE ${PROJECT_SOURCE_DIR}/streaming/kafka/dead_letter.cpp
                                      ${PROJECT_SOURCE_DIR}/streaming/kafka/topic_bookmark.cpp)
  # These files of the room local read a line of a report, by the settings that say how.
  target_sources(fuzz_report PRIVATE ${PROJECT_SOURCE_DIR}/streaming/local/report.cpp
                                     ${PROJECT_SOURCE_DIR}/streaming/local/settings.cpp)
else()
  nustream_test(fuzz_corpus_test quick SEPARATE fuzz/corpus_test.cpp ${nustream_fuzz_sources}
                support/simulated_disk.cpp
                LINK nustream_service)
  target_include_directories(fuzz_corpus_test PRIVATE fuzz)
  target_compile_definitions(fuzz_corpus_test PRIVATE NUSTREAM_FUZZ_CORPUS="${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus")
endif()
