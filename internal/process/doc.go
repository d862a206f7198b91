// Package process runs servers as child processes of this one: it starts them,
// says when and how they ended, ends them, and finds loopback addresses for
// them.
//
// It promises that a child does not outlive its parent, however that ends:
//
//   - On Linux the kernel kills the child when the thread that forked it ends
//     (PR_SET_PDEATHSIG). A Go program's threads come and go, so all children
//     are forked by one thread, which a goroutine holds as long as there are
//     any; see starter.
//   - Elsewhere nothing does: a parent that ends in good order stops its
//     children, but what a killed parent leaves must be ended by hand. Their
//     command lines show the directories they were given.
//
// A child is the leader of a process group of its own, so that an interrupt
// typed at the parent's terminal does not reach it, and so that Kill reaches
// what the child started in its turn. It gets the environment it is given and
// nothing of the parent's. What it prints goes straight into a file: nothing
// here reads it, and nothing bounds it.
//
// The package knows no system and no configuration. Of a Spec, the input alone is
// a place for secrets: arguments are there for everybody to read, the environment
// for every process of the same user.
//
// # Servers on a Java virtual machine
//
// They get a hosts file of their own (Hosts), so they ask no name server:
// docs/design/hosts-file.md.
package process
