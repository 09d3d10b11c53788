# Tests of the users room of the service, one line a binary.
find_package(PkgConfig REQUIRED)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
nustream_test(users_store_test quick unit/users_store_test.cpp unit/users_key_test.cpp property/users_log_test.cpp support/simulated_disk.cpp
              LINK nustream_service PkgConfig::RDKAFKA)
nustream_test(users_disk_table_test quick property/users_disk_table_test.cpp support/simulated_disk.cpp
              LINK nustream_service)
nustream_test(users_topic_log_test quick property/users_topic_log_test.cpp LINK nustream_service)
