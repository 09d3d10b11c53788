target_sources(nustream_service PRIVATE
  console/operator_counts.cpp console/new_file.cpp console/operator_file.cpp console/path_printer.cpp console/report_parts.cpp
  console/signals.cpp console/start_again.cpp console/summary.cpp console/main_path.cpp console/terminal.cpp console/terminal_bar.cpp console/warnings.cpp)
