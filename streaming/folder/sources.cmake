target_sources(nustream_service PRIVATE
  folder/account_share.cpp folder/begin_epoch.cpp folder/one_step_account.cpp folder/open_session.cpp folder/options.cpp folder/owed_spend.cpp folder/refusals.cpp
  folder/session.cpp folder/user_edits.cpp folder/users.cpp folder/window.cpp)
