//go:build !linux

package process

import "syscall"

// attributes makes a child the leader of a process group.
func attributes(Spec) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
