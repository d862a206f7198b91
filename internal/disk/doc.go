// Package disk gives a server a file system of its own, so that a fault can hit one
// disk alone: a power cut, a full disk, a slow disk.
//
// A Disk is an ext4 in a sparse image file, mounted through a loop device. It
// needs root, loop devices and mkfs.ext4: Check says what is missing. The mount
// has ext4's defaults (data=ordered, a commit every 5 s) and no blocks reserved
// for root.
//
// Cut ends a file system as a loss of power does: from one moment on nothing reaches
// the image, and data that the kernel had not yet written back is gone. It is ext4's
// own shutdown (EXT4_IOC_SHUTDOWN, without flushing the log), which the kernel's own
// crash tests use. docs/FAULT-MODELS.md says what it models and what it does not.
//
// Nothing outlives Release: mounts below a directory, the loop devices under them,
// which detach themselves with their last user, and the limits that make them slow.
// Release asks the kernel what exists and relies on no record, so it removes what a
// killed process left.
//
// Methods of a Disk may not be called at the same time.
//
// Shutting the file system down is one atomic step, and nothing can be written back in
// between, as it could while an image is copied: docs/design/power-cut.md.
package disk
