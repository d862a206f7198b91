// Package phrase prints the words and numbers that every report shares: rates, shares, lengths of
// time, counts with their nouns, names of latency series and lists of names.
//
// It promises that a figure which is missing or not a number is printed as missing, never as zero,
// and that equal values are printed alike everywhere.
//
// It knows no run as a whole (internal/report/fact) and lays nothing out.
package phrase
