//go:build !race

package bench_test

const raceDetector = false
