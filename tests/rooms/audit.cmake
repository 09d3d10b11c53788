# Audits: games that prove a lower bound of epsilon.
nustream_test(audit_test full statistical/audit_test.cpp LINK nustream_service GTest::gmock)
