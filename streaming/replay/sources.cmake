target_sources(nustream_service PRIVATE
  replay/path_printer.cpp replay/report_parts.cpp replay/pacer.cpp replay/engine.cpp replay/operator_counts.cpp
  replay/owed_spend.cpp replay/summary.cpp replay/summarise.cpp
  replay/signals.cpp replay/input.cpp replay/session.cpp replay/stream_input.cpp replay/terminal_bar.cpp
  replay/replay.cpp)
