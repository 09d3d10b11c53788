target_sources(nustream_service PRIVATE
  console/operator_counts.cpp console/operator_file.cpp console/path_printer.cpp console/report_parts.cpp
  console/signals.cpp console/summary.cpp console/main_path.cpp console/terminal.cpp console/warnings.cpp)
