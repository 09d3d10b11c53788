target_sources(nustream_service PRIVATE
  replay/endings.cpp replay/input.cpp replay/pacer.cpp replay/record_loop.cpp replay/replay.cpp replay/serving.cpp
  replay/stream_input.cpp replay/summarise.cpp)
