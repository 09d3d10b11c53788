# Tests of the engine room: what replay and attach share.
nustream_test(engine_noise_ahead_test quick property/engine_noise_ahead_test.cpp LINK nustream_service)
nustream_test(engine_going_on_test quick unit/engine_going_on_test.cpp LINK nustream_service)
nustream_test(engine_epoch_decision_test quick unit/engine_epoch_decision_test.cpp LINK nustream_service)
