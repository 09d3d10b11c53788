target_sources(nustream_service PRIVATE
  journal/appended_file.cpp journal/budget_account.cpp journal/completion.cpp journal/failpoint.cpp journal/file_journal.cpp
  journal/folder_witness.cpp journal/witness.cpp journal/witness_charges.cpp journal/witness_files.cpp journal/witness_keeper.cpp
  journal/last_release.cpp journal/ledger_chain.cpp journal/ledger_epochs.cpp journal/ledger_folder.cpp journal/lost_account.cpp journal/outbox_folder.cpp journal/posix_disk.cpp
  journal/release_chain.cpp journal/running_hash.cpp journal/rotate_key.cpp
  journal/state_record.cpp)
