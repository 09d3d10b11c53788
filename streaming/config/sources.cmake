find_package(Eigen3 REQUIRED NO_MODULE)
target_link_libraries(nustream_service PRIVATE Eigen3::Eigen)
target_sources(nustream_service PRIVATE
  config/advice.cpp config/beside_texts.cpp config/check_together.cpp config/settings_text.cpp config/default_nu.cpp config/digest.cpp config/estimator_choice.cpp config/growing_stages.cpp config/joined_features.cpp config/json_pointer.cpp config/judged_steps.cpp config/mechanism.cpp config/moments.cpp config/nearest.cpp config/public_scale.cpp config/ranges.cpp config/read_config.cpp
  config/read_descent.cpp config/read_input.cpp config/read_kafka.cpp config/read_model.cpp config/read_moments.cpp
  config/read_noise.cpp config/read_optimised.cpp config/read_schema.cpp config/read_start.cpp config/read_trail.cpp config/resolve_estimator.cpp config/read_users.cpp
  config/read_weight.cpp config/unicode.cpp
  config/settings_by_name.cpp config/settings_difference.cpp config/settings_document.cpp config/settings_tree.cpp config/shown_setting.cpp config/stage_settings.cpp config/take_private_out.cpp config/typed.cpp)
