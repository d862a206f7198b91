//go:build !linux

package process

import "syscall"

// attributes make a child the leader of a group.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
