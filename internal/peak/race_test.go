//go:build race

package peak_test

// raceDetector makes each message some twenty times as slow.
const raceDetector = true
