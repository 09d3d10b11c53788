# ./run attach --demo: starts a broker of its own, plays the bundled stream into a topic, and runs the service until
# Ctrl-C. Only the broker's jars stay behind, in the user's cache. This file needs setup.sh and kafka.sh.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by ./run
demo_packages=(kcat procps)
demo_started=()

# Ends all that the demo started, and removes its folder.
demo_stop() {
  trap - EXIT INT TERM
  local process
  # Each process leads a group of its own, and the other processes of the group end with it.
  for process in "${demo_started[@]}"; do kill -- "-$process" 2>/dev/null || kill "$process" 2>/dev/null || true; done
  for process in "${demo_started[@]}"; do wait "$process" 2>/dev/null || true; done
  rm -rf "$demo_folder"
}

# Prints a port on which nobody listens at this moment; somebody else may still take it before the demo does. It lies
# below the ports that the system gives to clients, since a client's connection would keep the broker from listening there.
demo_free_port() {
  local port
  while true; do
    port=$((10000 + RANDOM % 22000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  printf '%s\n' "$port"
}

# Writes the settings of a broker whose clients use port $1, and of its log, so that broker.log says what ended it.
demo_write_settings() {
  local port=$1 controller
  controller=$(demo_free_port)
  cat >"$demo_folder/server.properties" <<TEXT
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
controller.listener.names=CONTROLLER
log.dirs=$demo_folder/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
TEXT
  cat >"$demo_folder/log4j.properties" <<TEXT
log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
TEXT
}

# Starts the broker on a free port, which demo_port then names, and waits until it accepts connections. A broker that
# ends meanwhile is started anew on other ports, up to three times in all, since somebody may have taken one of them.
demo_start_broker() {
  local attempt
  for attempt in 1 2 3; do
    demo_port=$(demo_free_port)
    demo_run_broker && return 0
    rm -rf "$demo_folder/data"
  done
  demo_fail "the broker ended $attempt times while it started"
}

# Fails if the broker ends before it accepts connections on demo_port.
demo_run_broker() {
  demo_write_settings "$demo_port"
  local java=(java -Xmx512m -XX:+UseSerialGC "-Dlog4j.configuration=file:$demo_folder/log4j.properties"
    -cp "$(kafka_folder)/*")
  "${java[@]}" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAA -c "$demo_folder/server.properties" \
    >"$demo_folder/broker.log" 2>&1 || demo_fail "the broker's storage could not be made"
  # The broker is in a session of its own, so that Ctrl-C does not reach it: the service needs it for its last commit.
  setsid "${java[@]}" kafka.Kafka "$demo_folder/server.properties" >>"$demo_folder/broker.log" 2>&1 &
  local broker=$! tries
  demo_started=("$broker")
  for tries in $(seq 150); do
    kill -0 "$broker" 2>/dev/null || return 1
    (exec 3<>"/dev/tcp/127.0.0.1/$demo_port") 2>/dev/null && return 0
    sleep 0.2
  done
  demo_fail "the broker did not start within 30 s ($tries looks)"
}

# Ends the demo with a message, behind what the broker's log says of errors, or else behind its last lines.
demo_fail() {
  grep -E ' (ERROR|FATAL) |Exception' "$demo_folder/broker.log" | tail -n 5 >&2 || tail -n 5 "$demo_folder/broker.log" >&2
  fail "$*"
}

# Plays some hundreds of records a second into the topic, for ever: the stream begins again when it is over.
demo_play() {
  local file=$1 broker=$2 lines
  while true; do
    gzip -dc "$file" | tail -n +2 | while mapfile -t -n 100 lines && [ ${#lines[@]} -gt 0 ]; do
      printf '%s\n' "${lines[@]}"
      sleep 0.2
    done
  done | kcat -P -q -b "$broker" -t orders -X linger.ms=50 2>/dev/null
}

demo_topic() { "$nustream" topics "$demo_folder/retail.toml" --create --input --partitions 2 --replication 1 >/dev/null; }

demo_text() {
  cat <<TEXT
A local broker on $1, the bundled order lines played into topic 'orders' (2 partitions), and the service:

  http://127.0.0.1:9464/metrics         private figures, for anyone
  http://127.0.0.1:9464/api/v1/state    the present model and what it has cost
  http://127.0.0.1:9465/metrics         the operator's figures, which depend on data:
    curl -H "Authorization: Bearer \$(cat $demo_folder/retail.operator_token)" http://127.0.0.1:9465/metrics
  kcat -C -b $1 -t retail.releases -X isolation.level=read_committed
  kcat -C -b $1 -t retail.model -X isolation.level=read_committed

Ctrl-C ends all of it.
TEXT
}

# The ports of the service's two listeners have to be free; [serve] of the example names them.
demo_require_ports() {
  local port
  for port in 9464 9465; do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
    fail "port $port of 127.0.0.1 is in use, perhaps by another demo: end that first"
  done
}

demo() {
  demo_require_ports
  demo_folder=$(mktemp -d) || fail "cannot make a folder for the demo"
  trap demo_stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  demo_start_broker
  sed "s/^brokers = .*/brokers = \"127.0.0.1:$demo_port\"/; s|^key_file = \"key\"|key_file = \"$demo_folder/key\"|" \
    examples/attach/retail.toml >"$demo_folder/retail.toml"
  "$nustream" key new "$demo_folder/key" >/dev/null
  demo_topic
  set -m
  demo_play examples/retail/online_retail_events.csv.gz "127.0.0.1:$demo_port" &
  set +m
  demo_started=($! "${demo_started[@]}")
  demo_text "127.0.0.1:$demo_port"
  demo_attach "$@"
}

# Runs the service in a session of its own. Only this script passes signals on to it, so the service gets exactly one,
# whether somebody types Ctrl-C or sends a signal to the script, and commits before it ends. A demo is meant to end in
# this way, so its exit code is then 0.
demo_attach() {
  setsid "$nustream" attach "$demo_folder/retail.toml" "$@" &
  local service=$! code
  demo_started=("$service" "${demo_started[@]}")
  trap 'kill -INT "$service" 2>/dev/null' INT
  trap 'kill -TERM "$service" 2>/dev/null' TERM
  while true; do
    code=0
    wait "$service" || code=$?
    kill -0 "$service" 2>/dev/null || break  # if the service still runs, a signal ended the wait
  done
  trap 'exit 130' INT
  trap 'exit 143' TERM
  case "$code" in 130 | 143) code=0 ;; esac
  [ "$code" -ne 0 ] || printf 'The service has committed and ended; broker, player and their folder go now.\n'
  return "$code"
}
