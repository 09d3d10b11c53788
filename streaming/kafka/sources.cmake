target_sources(nustream_service PRIVATE
  kafka/background_call.cpp kafka/client.cpp kafka/client_error.cpp kafka/client_settings.cpp kafka/command_output.cpp
  kafka/dead_letter.cpp kafka/group_consumer.cpp
  kafka/handles.cpp kafka/kafka_journal.cpp kafka/lane_checks.cpp kafka/lane_edit.cpp kafka/log_lines.cpp kafka/look_up.cpp kafka/membership.cpp kafka/message.cpp kafka/oauth_token.cpp
  kafka/partition_reader.cpp kafka/place_offset.cpp kafka/producer_reports.cpp kafka/rotate_keys.cpp kafka/secret_properties.cpp kafka/security_advice.cpp kafka/seen_records.cpp kafka/topic_bookmark.cpp
  kafka/topic_checks.cpp kafka/topic_maker.cpp kafka/transaction.cpp kafka/transactional_client.cpp
  kafka/transactional_producer.cpp kafka/write_check.cpp)
