// Package golden compares what tests make with files that hold what was made before. With the flag
// -update a test writes its files anew; whoever commits them reads the difference. It is for tests
// only, and registers the flag for all packages of a test binary.
package golden
