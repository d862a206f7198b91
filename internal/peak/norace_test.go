//go:build !race

package peak_test

const raceDetector = false
