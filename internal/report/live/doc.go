// Package live shows a run or a search while it is measured: a panel that is painted in place on a
// terminal, and a line every few seconds elsewhere.
//
// It promises that the panel fits the terminal's width, and that sentences printed meanwhile stand
// above it and stay. It only shows intervals that it is given, and judges none.
package live
