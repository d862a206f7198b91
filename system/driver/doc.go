// Package driver is the kit that the drivers of systems are built with: what several of
// them need and none does in its own way. It knows no system; a driver takes from it what
// fits and does the rest itself.
package driver
