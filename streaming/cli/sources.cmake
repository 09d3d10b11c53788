target_sources(nustream_service PRIVATE
  cli/app.cpp cli/check.cpp cli/inspect.cpp cli/key.cpp cli/plan.cpp cli/replay.cpp)
