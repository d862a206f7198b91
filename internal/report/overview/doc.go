// Package overview answers how several runs stand side by side: what is the answer, in which
// settings they differ, which of them may be compared, and which warnings they share.
//
// Several runs are not ranked unless they may be: their settings come first, and runs that are not
// comparable, or that plimsoll itself limited, are marked as such. Two sets of runs are compared in
// internal/report/versus.
package overview
