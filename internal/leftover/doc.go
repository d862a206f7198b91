// Package leftover finds what killed processes left on this machine, so that the next command
// removes it.
//
// A process registers what must not outlive it before it makes it. The registry is a folder of the
// user, with a small file for each thing. A file is locked (flock) as long as its owner lives, and
// the kernel drops the lock however the owner ends. So nothing of a living owner is ever removed,
// and process numbers that are used again confuse nobody. Things whose owners have locks of their
// own, such as the folders of testbeds, are registered without one: whoever removes them looks at
// those locks.
//
// It promises that a sweep removes only what was registered on this machine by this user and has no
// owner, and that sweeps beside one another, and beside processes that register, disturb nobody.
// A sweep that finds nothing reads one folder.
//
// A registry that cannot be written stops nobody: only what a killed process leaves is then not
// found. It knows no kind of thing: its callers say how each is removed.
package leftover
