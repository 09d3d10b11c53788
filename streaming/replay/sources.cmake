target_sources(nustream_service PRIVATE
  replay/noise_feed.cpp replay/path_printer.cpp replay/pacer.cpp replay/engine.cpp replay/summary.cpp
  replay/signals.cpp replay/input.cpp replay/session.cpp replay/spent.cpp replay/replay.cpp)
