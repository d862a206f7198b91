package systemtest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Main runs a package's tests, stops the clusters that they shared, and returns the exit code
// for TestMain. It is not 0 when a goroutine is left that the options do not exempt.
func Main(m *testing.M, clusters []interface{ Stop() error }, exempt ...goleak.Option) int {
	code := 1
	remove, err := useQuickJava()
	if err == nil {
		code = m.Run()
	}
	errs := []error{err}
	if remove != nil {
		errs = append(errs, remove())
	}
	errs = append(errs, stopAll(clusters)...)
	if code == 0 {
		errs = append(errs, goleak.Find(exempt...))
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// stopAll stops the clusters in parallel, because stopping is mostly waiting. It waits for
// clusters that Ahead is still starting.
func stopAll(clusters []interface{ Stop() error }) []error {
	starting.Wait()
	return driver.DoAll(len(clusters), func(i int) error { return clusters[i].Stop() })
}
