target_sources(nustream_service PRIVATE
  cli/account.cpp cli/amounts_plan.cpp cli/app.cpp cli/app_broker.cpp cli/arguments.cpp cli/attach.cpp cli/audit.cpp cli/check.cpp cli/clipped_plan.cpp cli/estimate.cpp cli/export.cpp cli/fit.cpp cli/inspect.cpp cli/inspect_chart.cpp cli/inspect_json.cpp cli/inspect_text.cpp cli/inspected.cpp cli/kafka_arguments.cpp cli/key.cpp
  cli/descent_prediction.cpp cli/estimator_comparison.cpp cli/fit_report.cpp cli/local.cpp cli/measured.cpp cli/moments_plan.cpp cli/plan.cpp cli/plan_curves.cpp cli/plan_page.cpp
  cli/record.cpp cli/replay.cpp cli/solve.cpp cli/stream_rules.cpp cli/table_plan.cpp cli/table_prediction.cpp cli/topics.cpp cli/two_stage_plan.cpp cli/users.cpp cli/users_plan.cpp cli/verify.cpp)
set_source_files_properties(cli/app.cpp cli/app_broker.cpp cli/arguments.cpp cli/attach.cpp cli/export.cpp cli/fit.cpp cli/solve.cpp cli/verify.cpp cli/account.cpp PROPERTIES COMPILE_OPTIONS -O1)  # grammar, run once: not worth the time
# The script of a plan's report, built in.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/assets/plan.js)
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/cli/assets/plan.js plan_script)
configure_file(cli/plan_assets.h.in ${CMAKE_CURRENT_BINARY_DIR}/cli/plan_assets.h @ONLY)
