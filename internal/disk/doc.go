// Package disk gives a server a file system of its own, so that what happens to
// one disk can happen to it alone: its power is cut, it is full, it is slow.
//
// A Disk is an ext4 in a sparse image file, mounted through a loop device. It
// needs root, loop devices and mkfs.ext4: Check says what is missing. The mount
// has ext4's defaults (data=ordered, a commit every 5 s) and no blocks reserved
// for root.
//
// Cut ends a file system as a loss of power does: from one moment on nothing
// more reaches the image, and what its kernel had not yet sent there is gone. It
// is ext4's own shutdown (EXT4_IOC_SHUTDOWN, without flushing the log), which the
// kernel's tests of crashes are made with. What it models, and what not, is in
// docs/FAULTS.md.
//
// Nothing outlives Release: mounts below a directory, the loop devices under them,
// which detach themselves with their last user, and the bounds that make
// them slow. It looks at what the kernel has and not at what somebody remembers,
// so it removes what a killed process left.
//
// Methods of a Disk may not be called at the same time.
//
// Shutting the file system down is one atomic step, and nothing can be written back in
// between, as it could while an image is copied: docs/design/power-cut.md.
package disk
