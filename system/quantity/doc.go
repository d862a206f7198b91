// Package quantity reads and writes quantities as people spell them: 1KB,
// 10ms, 200k/s, 1M, 50%.
//
// Byte units are powers of 1,024, read and printed (1KB = 1KiB = 1,024 bytes, as the studies of
// this field use them); counts and rates are powers of 1,000. Reading is exact: a value that is
// not a whole number of bytes or nanoseconds is refused.
//
// It promises that the output of ExactBytes, ExactDuration and ExactRate is read back as the same
// value. Bytes, Duration, Rate and Count are for people: the first three round, the last groups
// its digits.
package quantity
