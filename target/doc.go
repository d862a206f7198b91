// Package target is whom to offer load to: a system by name, where it is or
// that plimsoll shall start it, and settings in the system's own words.
//
// It promises well-formed plain data with the place of every setting in its
// file. It does not know which settings exist: the system does, and refuses
// the others (system.Resolve). It holds no secrets either, only where they are;
// Credentials.Resolve fetches them.
package target
