#!/usr/bin/env bash
# Publishes the records of a file that are not published yet, and audits the registry. Prints nothing if all is well.
set -euo pipefail
records=$(realpath "${1:?Name the file of records.}")
cd "$(dirname "$0")"

# Options of a real chain. Without this file, the commands use the local system.
chain="" store=""
if [ -e keyroot.env ]; then . ./keyroot.env; fi

# The last run may still be waiting for confirmations.
exec 9> .lock
flock --nonblock 9 || exit 0

# Shows the output of a command only if it fails. Of the failed commands' codes, the script ends with the smallest.
failed=0
quietly() {
  local output code=0
  output=$("$@" 2>&1) || code=$?
  if [ "$code" -ne 0 ]; then
    echo "'$*' ended with $code:"
    echo "$output"
    if [ "$failed" -eq 0 ] || [ "$code" -lt "$failed" ]; then failed=$code; fi
  fi
}

# Without quotes: each variable has several words.
# shellcheck disable=SC2086
quietly npx --no-install keyroot publish --records "$records" $chain $store
# shellcheck disable=SC2086
quietly npx --no-install keyroot audit $chain --state audit.sqlite
exit "$failed"
