# Tests of the command's rooms: config, publish, replay, cli.
nustream_test(config_test quick unit/config_test.cpp LINK nustream_service GTest::gmock)
nustream_test(publish_test quick unit/publish_test.cpp LINK nustream_service GTest::gmock)
