// Package systems lists the systems that plimsoll knows: one line for each, and the
// default. All there is to know about a system is in its own folder.
package systems
