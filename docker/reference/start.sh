# The reference broker in a container: where to listen comes as KAFKA_CONFORMANCE_*
# (docker/README.md). Only what the shell itself can do: the image holds sh and python.
set -eu

host=${KAFKA_CONFORMANCE_LISTEN_HOST:-0.0.0.0}
port=${KAFKA_CONFORMANCE_LISTEN_PORT:-9092}
advertised=${KAFKA_CONFORMANCE_HOST:-localhost}:${KAFKA_CONFORMANCE_PORT:-$port}
given=${KAFKA_CONFORMANCE_SETTINGS:-}

set -- --host "$host" --port "$port"
case $given in
    advertised.listeners=* | *"
advertised.listeners="*) ;;
    *) set -- "$@" --setting "advertised.listeners=PLAINTEXT://$advertised" ;;
esac
while IFS= read -r setting; do
    if [ -n "$setting" ]; then set -- "$@" --setting "$setting"; fi
done <<EOF
$given
EOF
exec python3 -P -m harness.cli broker "$@"
