// Package price turns the resources that servers spent during a run into money per million
// messages and per 10^9 bytes published, at the prices of a file.
//
// It promises that every part is computed from observed figures, summed over all servers, so
// that all copies of a message are in it; that a part that cannot be priced is left out with its
// reason and never counts as zero; and that the same run and file give the same price. It prices
// the used resources: a machine that is rented whole costs more.
package price
