# Tests of the model room, one line a binary.
nustream_test(model_loss_test quick unit/model_loss_test.cpp)
