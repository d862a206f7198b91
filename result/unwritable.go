package result

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Unwritable is the error of a folder in which nothing can be made. Another folder would do.
type Unwritable struct {
	Folder string
	cause  error
}

// Error says why, and what to do.
func (u *Unwritable) Error() string {
	var errno syscall.Errno
	cause := u.cause
	if errors.As(cause, &errno) {
		cause = errno
	}
	remedy := "name another folder"
	switch {
	case errors.Is(cause, fs.ErrNotExist):
		remedy = "make it, or name another one"
	case errors.Is(cause, fs.ErrPermission):
		remedy = "give this user the right to write there, or name another folder"
	}
	return fmt.Sprintf("the folder %s cannot be written to: %v: %s", u.Folder, cause, remedy)
}

func (u *Unwritable) Unwrap() error { return u.cause }

// InFolder returns an Unwritable if nothing can be made in the folder, and otherwise the error
// after what failed, such as "create the folder".
func InFolder(folder, failed string, err error) error {
	for _, cause := range []error{fs.ErrPermission, fs.ErrNotExist, fs.ErrExist, syscall.EROFS,
		syscall.ENOTDIR} {
		if errors.Is(err, cause) {
			return &Unwritable{folder, err}
		}
	}
	return fmt.Errorf("%s: %w", failed, err)
}
