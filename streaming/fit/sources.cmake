target_sources(nustream_service PRIVATE
  fit/bins.cpp fit/columns.cpp fit/fit.cpp fit/input.cpp fit/look.cpp fit/opened.cpp fit/page.cpp fit/report.cpp
  fit/report_text.cpp fit/table.cpp fit/terms.cpp fit/texts.cpp fit/written_config.cpp)
