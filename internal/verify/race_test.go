//go:build race

package verify_test

// raceDetector makes each message some twenty times as slow.
const raceDetector = true
