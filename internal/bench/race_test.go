//go:build race

package bench_test

// raceDetector makes each message some twenty times as slow.
const raceDetector = true
