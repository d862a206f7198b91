// Package process runs servers as child processes: it starts them, reports when and
// how they ended, stops them, and finds loopback addresses for them.
//
// It promises that a child does not outlive its parent, however that ends:
//
//   - On Linux the kernel kills the child when the thread that forked it ends
//     (PR_SET_PDEATHSIG). A Go program's threads come and go, so all children
//     are forked by one thread, which a goroutine holds as long as there are
//     any; see starter.
//   - Elsewhere nothing does: a parent that ends normally stops its children, but the children of
//     a killed parent must be ended by hand. Their command lines show their directories.
//
// A child leads a process group of its own, so an interrupt typed at the parent's
// terminal does not reach it. Kill reaches all processes that descend from the child, also
// those that lead groups of their own (Family). A child gets the environment that it is
// given and nothing of the parent's. Its output goes straight into a file; nothing here
// reads or limits it.
//
// The package knows no system and no configuration. In a Spec, only the input may hold
// secrets: every user can read arguments, and every process of the same user can read
// the environment.
//
// # Servers on a Java virtual machine
//
// They get their own hosts file (Hosts), so they ask no name server: docs/design/hosts-file.md.
package process
