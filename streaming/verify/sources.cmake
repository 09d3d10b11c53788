target_sources(nustream_service PRIVATE verify/ledger_check.cpp verify/release_check.cpp verify/verify.cpp)
