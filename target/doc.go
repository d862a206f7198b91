// Package target describes the system under load: its name, where it is or how
// plimsoll starts it, and settings in the system's own words.
//
// It promises plain, well-formed data with the place of every setting in its file. It does not
// know which settings exist: the system knows them, and refuses the others (system.Resolve). It
// holds no secrets, only the places where they are; Credentials.Resolve reads them.
package target
