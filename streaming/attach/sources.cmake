target_sources(nustream_service PRIVATE
  attach/attach.cpp attach/broker_watch.cpp attach/edit_users.cpp attach/first_records.cpp attach/front.cpp attach/lane_bounds.cpp attach/lane_change.cpp attach/lane_clients.cpp attach/lane_ends.cpp attach/lane_epoch.cpp
  attach/lane_input.cpp attach/lane_log.cpp attach/lane_opening.cpp attach/lane_past.cpp attach/lane_state.cpp
  attach/lane_tally.cpp attach/lane_transactions.cpp
  attach/lane_worker.cpp attach/lost_users.cpp attach/measuring.cpp attach/model_clock.cpp attach/open_batch.cpp attach/open_lane.cpp attach/open_users.cpp attach/preflight.cpp attach/rebuild_users.cpp
  attach/record_sizes.cpp attach/roster.cpp attach/service.cpp attach/service_events.cpp attach/start_up.cpp
  attach/topic_requirements.cpp attach/topic_users.cpp attach/users_partition.cpp)
