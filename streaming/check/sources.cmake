# What an operator is told of an input before and after a run.
target_sources(nustream_service PRIVATE
  check/column_profile.cpp check/constant_columns.cpp check/data_check.cpp check/examples.cpp check/findings_text.cpp check/first_look.cpp check/foreign_texts.cpp check/label_texts.cpp check/line_advice.cpp
  check/limits_gate.cpp check/long_records.cpp check/look.cpp check/start_clips.cpp check/tally.cpp check/times.cpp)
