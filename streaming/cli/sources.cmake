target_sources(nustream_service PRIVATE
  cli/account.cpp cli/plan_parts.cpp cli/app.cpp cli/app_broker.cpp cli/arguments.cpp cli/check.cpp cli/fit.cpp cli/inspect.cpp cli/inspect_json.cpp cli/inspect_text.cpp cli/inspected.cpp cli/run_files.cpp cli/kafka_arguments.cpp cli/key.cpp
  cli/descent_prediction.cpp cli/estimator_comparison.cpp cli/fit_report.cpp cli/local.cpp cli/plan.cpp cli/plan_curves.cpp cli/plan_page.cpp cli/plan_schema.cpp
  cli/commands.cpp cli/stream_rules.cpp cli/table_plan.cpp cli/table_prediction.cpp cli/topics.cpp cli/two_stage_plan.cpp cli/users.cpp cli/users_plan.cpp cli/users_suggestion.cpp cli/limits_reach.cpp cli/release_commands.cpp)
set_source_files_properties(cli/app.cpp cli/app_broker.cpp cli/arguments.cpp cli/fit.cpp cli/release_commands.cpp cli/account.cpp PROPERTIES COMPILE_OPTIONS -O1)  # grammar, run once: not worth the time
# The script of a plan's report, built in.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/assets/plan.js)
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/cli/assets/plan.js plan_script)
configure_file(cli/plan_assets.h.in ${CMAKE_CURRENT_BINARY_DIR}/cli/plan_assets.h @ONLY)
