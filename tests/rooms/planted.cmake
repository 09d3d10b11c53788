# Bugs that are planted on purpose (src/planted/planted.h), and what catches each of them: docs/planted-bugs.md.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(TOML REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
find_package(simdjson REQUIRED)

# The sources that hold them, once more with them and with kill points; nothing that is shipped links these libraries.
set(planted_core
  privacy/encoder_norm.cpp privacy/epsilon.cpp privacy/exponential_encoder.cpp privacy/ledger.cpp
  privacy/participation.cpp privacy/tree_encoder.cpp privacy/zcdp.cpp noise/generator_factory.cpp noise/key_ring.cpp
  noise/seed_noise.cpp noise/source.cpp descent/clip.cpp descent/gradient_sum.cpp descent/kernel.cpp
  descent/kernel_baseline.cpp descent/loop.cpp descent/norm.cpp descent/second_moments.cpp lane/lane.cpp
  descent/matrix_loop.cpp descent/two_stage_loop.cpp record/timestamp.cpp inference/local_bounds.cpp
  inference/local_mechanism.cpp ranges/histogram.cpp ranges/likelihood_fit.cpp ranges/noise_draws.cpp ranges/scores.cpp ranges/stride.cpp
  moments/batch_sums.cpp moments/budget.cpp moments/interval.cpp moments/lane.cpp moments/participation.cpp moments/running_sums.cpp
  users/contribution.cpp users/loop.cpp
  lane/encoding.cpp noise/restarted.cpp privacy/restarted_encoder.cpp users/changes.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND planted_core descent/kernel_avx2.cpp descent/kernel_avx512.cpp)
endif()
set(planted_service
  decode/csv_decoder.cpp decode/recorded_reader.cpp config/read_model.cpp config/read_config.cpp config/mechanism.cpp
  config/digest.cpp engine/table_design.cpp estimate/estimate.cpp folder/one_step_account.cpp measure/fit.cpp replay/input.cpp folder/session.cpp folder/users.cpp
  engine/noise_feed.cpp engine/epoch_ledger.cpp engine/spent.cpp replay/record_loop.cpp console/summary.cpp
  engine/noise_ahead.cpp secrets/random.cpp secrets/keyring.cpp secrets/key_file.cpp secrets/seal.cpp
  journal/outbox_folder.cpp journal/appended_file.cpp journal/failpoint.cpp kafka/kafka_journal.cpp
  kafka/transaction.cpp publish/release_json.cpp serve/servers.cpp attach/lane_change.cpp attach/lane_input.cpp attach/lane_transactions.cpp
  journal/state_record.cpp
  journal/folder_witness.cpp journal/witness.cpp journal/witness_keeper.cpp kafka/lane_checks.cpp attach/record_sizes.cpp attach/topic_users.cpp local/randomize.cpp
  decode/message_decoder.cpp users/clock_of_state.cpp)

# A bug whose file is in neither list would be planted nowhere, and its test would say that nothing catches it.
function(nustream_all_planted of)
  get_target_property(sources ${of} SOURCES)
  get_target_property(folder ${of} SOURCE_DIR)
  foreach(source IN LISTS sources)
    if(source IN_LIST ARGN OR NOT EXISTS ${folder}/${source})
      continue()
    endif()
    file(STRINGS ${folder}/${source} found REGEX "NUSTREAM_PLANTED\\(" LIMIT_COUNT 1)
    if(found)
      message(FATAL_ERROR "${source} holds a planted bug: add it to the sources of tests/rooms/planted.cmake")
    endif()
  endforeach()
endfunction()
nustream_all_planted(nustream_core ${planted_core})
nustream_all_planted(nustream_service ${planted_service})

function(nustream_planted_library name of folder)
  add_library(${name} STATIC)
  foreach(source IN LISTS ARGN)
    set(path ${PROJECT_SOURCE_DIR}/${folder}/${source})
    target_sources(${name} PRIVATE ${path})
    nustream_replaced(${of} ${path})
    get_source_file_property(options ${path} TARGET_DIRECTORY ${of} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${path} PROPERTIES COMPILE_OPTIONS "${options}")
    endif()
  endforeach()
  target_compile_definitions(${name} PRIVATE NUSTREAM_PLANTS NUSTREAM_FAILPOINTS)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # what is asked of them is what they do
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/streaming)
  target_link_libraries(${name} PRIVATE ${of} nustream_compile OpenSSL::Crypto)
endfunction()
nustream_planted_library(nustream_planted_core nustream_core src planted/planted.cpp ${planted_core})
find_package(Eigen3 REQUIRED NO_MODULE)
target_link_libraries(nustream_planted_core PRIVATE Eigen3::Eigen)
nustream_planted_library(nustream_planted_service nustream_service streaming ${planted_service})
target_link_libraries(nustream_planted_service PRIVATE PkgConfig::SODIUM PkgConfig::TOML PkgConfig::RDKAFKA
                                                       simdjson::simdjson)

set(planted_core $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_planted_core>)
set(planted_service ${planted_core} $<LINK_LIBRARY:WHOLE_ARCHIVE,nustream_planted_service>)

# The command with them, beside the command as it is.
add_executable(nustream_planted ${PROJECT_SOURCE_DIR}/streaming/cli/main.cpp)
target_link_libraries(nustream_planted PRIVATE ${planted_service} nustream_service)
set_target_properties(nustream_planted PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# NAME_planted: a program of the objects of NAME and code with the bugs.
function(nustream_planted_twins)
  foreach(name IN LISTS ARGN)
    get_target_property(libraries ${name} LINK_LIBRARIES)
    set(planted ${planted_core})
    if("nustream_service" IN_LIST libraries OR "nustream_simulation" IN_LIST libraries)
      set(planted ${planted_service})
    endif()
    add_executable(${name}_planted $<TARGET_OBJECTS:${name}>)
    set_target_properties(${name}_planted PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name}_planted PRIVATE ${planted} ${libraries})
  endforeach()
endfunction()
set(planted_twins
  noise_healing_test noise_key_test noise_gaussian_test noise_generators_property_test noise_source_test
  noise_source_property_test privacy_unit_test privacy_restarted_test privacy_golden_test descent_test lane_test lane_stages_test
  local_inference_test decode_test config_test publish_test secrets_unit_test journal_unit_test journal_crash_test
  ranges_test serve_listener_test residual_test lane_stages_twin_test record_test replay_input_test
  engine_key_memory_test
  simulation_test coupling_test moments_test moments_property_test engine_moments_coupling_test
  users_property_test users_lane_test)
nustream_planted_twins(${planted_twins})

# Tests of commands, which run the command's twin.
set(planted_commands
  replay_resume_test estimate_test fit_test measured_test instruments_test local_command_test key_source_test
  replay_healing_test replay_batches_test users_command_test)

nustream_test(planted_bugs_test full planted/planted_bugs_test.cpp planted/bugs.cpp LINK GTest::gmock)
target_compile_definitions(planted_bugs_test PRIVATE
  NUSTREAM_PLANTS NUSTREAM_PROGRAMS="$<TARGET_FILE_DIR:planted_bugs_test>"
  NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>")
list(TRANSFORM planted_twins APPEND _planted OUTPUT_VARIABLE planted_twin_targets)
add_dependencies(planted_bugs_test nustream_planted ${planted_commands} ${planted_twin_targets})

if(NOT NUSTREAM_FAILPOINTS)
  nustream_test(planted_release_build_test quick fault/planted_release_build_test.cpp)
  target_compile_definitions(planted_release_build_test PRIVATE
    NUSTREAM_PLANTS NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>"
    NUSTREAM_COMMAND="$<TARGET_FILE:nustream>" NUSTREAM_SERVICE_ARCHIVE="$<TARGET_FILE:nustream_service>"
    NUSTREAM_CORE_ARCHIVE="$<TARGET_FILE:nustream_core>")
  add_dependencies(planted_release_build_test nustream nustream_planted)
endif()

# On a broker.
nustream_attach_test(attach_planted_test full fault/attach_planted_test.cpp)
target_compile_definitions(attach_planted_test PRIVATE NUSTREAM_PLANTED_COMMAND="$<TARGET_FILE:nustream_planted>")
add_dependencies(attach_planted_test nustream_planted)
nustream_planted_twins(neighbour_service)
add_dependencies(planted_bugs_test attach_planted_test attach_contradiction_test attach_epochs_test
                 attach_batches_test attach_neighbours_test attach_users_test attach_lane_change_test
                 neighbour_service_planted)
