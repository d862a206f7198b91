#!/bin/sh
# Measures baseline.yaml and candidate.yaml in turn under workload.yaml, and
# fails when the candidate is surely slower, or lost anything. See GATE.md.
set -eu
rm -rf gate-runs
plimsoll run -w workload.yaml -t baseline.yaml -t candidate.yaml --trials "${TRIALS:-5}" --runs gate-runs
plimsoll compare gate-runs ${ANYWAY:+--anyway} --markdown --fail-if 'publish.p50 > 1.5x' --fail-if 'lost > 0' > gate.md
