# Recordings of topics of a real broker.
nustream_attach_test(record_topic_test full fault/record_topic_test.cpp support/simulated_disk.cpp)
