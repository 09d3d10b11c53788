# Audits: games that prove a lower bound of epsilon.
find_package(Eigen3 REQUIRED)
nustream_test(audit_test full statistical/audit_test.cpp statistical/audit_stages_test.cpp LINK nustream_service Eigen3::Eigen GTest::gmock)
nustream_test(audit_moments_test full statistical/audit_moments_test.cpp LINK nustream_service Eigen3::Eigen)
nustream_test(audit_users_test full statistical/audit_users_test.cpp LINK nustream_service Eigen3::Eigen GTest::gmock)
nustream_test(audit_command_test quick fault/audit_command_test.cpp LINK GTest::gmock simdjson::simdjson)
target_compile_definitions(audit_command_test PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
add_dependencies(audit_command_test nustream)
# Noise recovered from releases and known records.
find_package(fmt REQUIRED)
nustream_test(residual_test full statistical/residual_test.cpp LINK nustream_service Eigen3::Eigen fmt::fmt)
target_compile_definitions(residual_test PRIVATE NUSTREAM_COMMAND="$<TARGET_FILE:nustream>")
add_dependencies(residual_test nustream)
