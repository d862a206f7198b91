package systemtest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests, stops the clusters that they shared, and returns the exit code
// for TestMain. It is not 0 when a goroutine is left that the options do not exempt.
func Main(m *testing.M, clusters []interface{ Stop() error }, exempt ...goleak.Option) int {
	code := m.Run()
	var errs []error
	for _, c := range clusters {
		errs = append(errs, c.Stop())
	}
	if code == 0 {
		errs = append(errs, goleak.Find(exempt...))
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
