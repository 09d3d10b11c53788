# Tests of the command's rooms: config, publish, check, replay, cli.
nustream_test(config_test quick unit/config_test.cpp unit/config_columns_test.cpp unit/config_mechanism_test.cpp unit/config_settings_difference_test.cpp unit/config_settings_keys_test.cpp unit/config_short_numbers_test.cpp unit/config_moments_test.cpp unit/config_places_test.cpp unit/config_stages_test.cpp
              LINK nustream_service GTest::gmock)
nustream_test(config_defaults_test quick unit/config_defaults_test.cpp LINK nustream_service GTest::gmock)
nustream_test(config_status_test quick unit/config_status_test.cpp LINK nustream_service GTest::gmock)
nustream_test(config_users_test quick unit/config_users_test.cpp LINK nustream_service GTest::gmock)
nustream_test(log_test quick unit/log_test.cpp LINK nustream_service GTest::gmock simdjson::simdjson)
nustream_test(publish_test quick unit/publish_test.cpp unit/publish_json_writer_test.cpp unit/publish_epsilons_test.cpp unit/publish_combined_model_test.cpp unit/publish_status_test.cpp LINK nustream_service GTest::gmock simdjson::simdjson)

nustream_test(verify_test quick unit/verify_test.cpp unit/verify_handed_on_test.cpp LINK nustream_service)

# The real command, as a child process.
find_package(fmt REQUIRED)
function(nustream_command_test name label)
  nustream_test(${name} ${label} ${ARGN} LINK nustream_service GTest::gmock simdjson::simdjson fmt::fmt)
  target_compile_definitions(${name} PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
  add_dependencies(${name} nustream)
endfunction()
# These tests are of dry runs, and of what an operator is told about records that cannot be used.
nustream_test(check_test quick unit/check_profile_test.cpp unit/check_tally_test.cpp unit/check_constant_test.cpp
              unit/check_data_test.cpp unit/check_times_test.cpp
              unit/decode_alike_test.cpp LINK nustream_service GTest::gmock simdjson::simdjson)
nustream_command_test(check_data_test quick fault/check_data_test.cpp fault/unusable_input_test.cpp
                      fault/first_contact_test.cpp fault/first_contact_kinds_test.cpp fault/first_contact_names_test.cpp
                      fault/told_texts_test.cpp fault/told_inputs_test.cpp fault/refused_settings_test.cpp)
nustream_command_test(golden_versions_test quick fault/golden_versions_test.cpp)
nustream_command_test(cases_test quick fault/cases_test.cpp)
nustream_command_test(replay_bad_input_test quick fault/replay_bad_input_test.cpp fault/replay_bad_records_test.cpp)
nustream_command_test(framing_test quick fault/framing_test.cpp)
nustream_command_test(export_test quick fault/export_test.cpp)
nustream_command_test(account_test quick SEPARATE fault/account_test.cpp unit/folder_account_share_test.cpp)
nustream_test(console_start_again_test quick unit/console_start_again_test.cpp LINK nustream_service)
nustream_command_test(inspect_test quick fault/inspect_test.cpp)
nustream_command_test(witness_test quick fault/witness_test.cpp fault/witness_rotation_test.cpp
                      fault/witness_lost_account_test.cpp fault/folder_trust_test.cpp)
nustream_command_test(report_test quick fault/report_test.cpp fault/other_reports_test.cpp fault/replay_serve_test.cpp)
add_test(NAME report_browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/browser/run $<TARGET_FILE:nustream>
                                     ${PROJECT_BINARY_DIR}/browser ${CMAKE_CURRENT_SOURCE_DIR}/browser/report.mjs)
set_tests_properties(report_browser PROPERTIES LABELS full TIMEOUT ${test_timeout} SKIP_RETURN_CODE 77
                                               RESOURCE_LOCK browser_packages)
nustream_command_test(terminal_test quick fault/terminal_test.cpp)
nustream_command_test(key_source_test quick fault/key_source_test.cpp)
target_compile_definitions(key_source_test PRIVATE NUSTREAM_KEY_SOURCE="$<TARGET_FILE:key_source>")
add_dependencies(key_source_test key_source)
nustream_command_test(replay_healing_test quick fault/replay_healing_test.cpp)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
nustream_command_test(replay_resume_test quick fault/replay_clipped_test.cpp fault/replay_resume_test.cpp fault/replay_resume_input_test.cpp
                      fault/replay_signals_test.cpp
                      fault/replay_epochs_test.cpp fault/replay_new_epoch_test.cpp fault/replay_going_on_test.cpp)
target_link_libraries(replay_resume_test PRIVATE ZLIB::ZLIB PkgConfig::ZSTD)

# The command with kill points: the objects of the rooms journal, secrets and users come from the faulty library, and
# everything else is as shipped.
add_executable(nustream_faulty ${PROJECT_SOURCE_DIR}/streaming/cli/main.cpp)
target_link_libraries(nustream_faulty PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_journal_faulty> nustream_service)
foreach(name replay_kill_test replay_reserved_test estimate_kill_test fit_kill_test measured_kill_test witness_kill_test users_kill_test)
  nustream_test(${name} full fault/${name}.cpp
                LINK nustream_journal_faulty GTest::gmock simdjson::simdjson fmt::fmt)
  target_compile_definitions(${name} PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>"
                                             NUSTREAM_FAULTY="$<TARGET_FILE:nustream_faulty>")
  add_dependencies(${name} nustream nustream_faulty)
endforeach()
nustream_command_test(estimate_memory_test full fault/estimate_memory_test.cpp)
nustream_command_test(estimate_test quick fault/estimate_test.cpp fault/estimate_intervals_test.cpp
                      fault/estimate_rejects_test.cpp fault/estimate_resume_test.cpp fault/estimate_fits_test.cpp
                      fault/estimate_settled_test.cpp)
nustream_command_test(estimate_moments_test quick fault/estimate_moments_test.cpp)
nustream_command_test(estimate_auto_test quick fault/estimate_auto_test.cpp)
target_link_libraries(estimate_test PRIVATE ZLIB::ZLIB)
set(NUSTREAM_TABLES_DIR "${PROJECT_SOURCE_DIR}/../shared/data"
    CACHE PATH "Folder of the tables that tests may read and the project may not ship")
nustream_command_test(plan_test quick fault/plan_test.cpp fault/plan_rules_test.cpp)
nustream_command_test(status_test quick fault/status_test.cpp)
nustream_command_test(fit_test quick fault/fit_test.cpp fault/fit_groups_test.cpp fault/fit_ledger_test.cpp
                      fault/fit_input_test.cpp fault/fit_look_test.cpp)
nustream_command_test(measured_test quick fault/measured_test.cpp fault/measured_users_test.cpp
                      fault/measured_lost_test.cpp)
nustream_command_test(weighted_records_test quick fault/weighted_records_test.cpp fault/fit_units_test.cpp)
nustream_command_test(instruments_test quick fault/instruments_test.cpp fault/public_rows_test.cpp
                      fault/solved_instruments_test.cpp)
target_compile_definitions(instruments_test PRIVATE NUSTREAM_TABLES_DIR="${NUSTREAM_TABLES_DIR}")
nustream_command_test(replay_batches_test quick fault/replay_batches_test.cpp)
nustream_test(replay_input_test quick unit/replay_input_test.cpp LINK nustream_service GTest::gmock fmt::fmt)
target_compile_definitions(replay_input_test PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
nustream_command_test(users_command_test quick fault/users_estimate_test.cpp fault/users_replay_test.cpp
                      fault/users_edits_test.cpp fault/users_epochs_test.cpp fault/users_moments_test.cpp
                      fault/users_windows_test.cpp fault/users_migration_test.cpp fault/users_disk_test.cpp)
nustream_command_test(users_plan_test quick fault/users_plan_test.cpp)
nustream_command_test(replay_moments_test quick fault/replay_moments_test.cpp)
