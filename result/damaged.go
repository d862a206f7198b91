package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// damaged returns the error for a file of JSON that plimsoll wrote and that does not decode any
// more.
func damaged(path string, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	why := fmt.Errorf("it holds what plimsoll does not write: %w", err)
	switch {
	case errors.As(err, &syntax) && syntax.Error() == endsEarly:
		why = errors.New("it ends too early")
	case errors.As(err, &syntax):
		why = fmt.Errorf("it is not JSON from byte %d on", syntax.Offset)
	case errors.As(err, &kind) && kind.Field == "":
		why = fmt.Errorf("it is a JSON %s and not an object", kind.Value)
	case errors.As(err, &kind):
		why = fmt.Errorf("its %s must not be a JSON %s", kind.Field, kind.Value)
	}
	return fmt.Errorf("%s is damaged, %w: restore it from a copy, or remove it", path, why)
}

// endsEarly is what encoding/json says of the beginning of a JSON text.
const endsEarly = "unexpected end of JSON input"

// unreadable returns the error for a file that cannot be opened or read.
func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s may not be read: give this user the right to read it", path)
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be read: %w: restore it from a copy, or remove it", path, err)
}
