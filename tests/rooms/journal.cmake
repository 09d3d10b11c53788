# Tests of the secrets and journal rooms, one line a binary.
nustream_test(journal_unit_test quick unit/journal_file_journal_test.cpp LINK nustream_service)
target_include_directories(journal_unit_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
