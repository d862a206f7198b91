// Package versus answers whether two sets of runs differ, by how much and how surely, in a document
// and as JSON.
//
// The test is made in internal/compare. The package promises that no difference is named which the
// test does not show, and that reasons not to compare come before the figures.
package versus
