// Package command is plimsoll's command line: it turns flags and files into jobs, runs them, and
// turns what comes back into words and exit codes. cmd/plimsoll is a call of Main; so is a program
// with systems of its own.
package command
