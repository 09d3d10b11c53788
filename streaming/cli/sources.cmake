target_sources(nustream_service PRIVATE
  cli/app.cpp cli/check.cpp cli/inspect.cpp cli/key.cpp cli/plan.cpp cli/replay.cpp)
set_source_files_properties(cli/app.cpp PROPERTIES COMPILE_OPTIONS -O1)  # grammar, run once: not worth the time
