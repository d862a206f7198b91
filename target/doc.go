// Package target describes the system under load: its name, where it is or how
// plimsoll starts it, and settings in the system's own words.
//
// It promises well-formed plain data with the place of every setting in its file. It
// does not know which settings exist: the system knows, and refuses the others
// (system.Resolve). It holds no secrets, only where they are; Credentials.Resolve
// fetches them.
package target
