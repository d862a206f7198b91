package fault

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/system"
)

// cutPower first stops the processes of all nodes, so that no server answers after its disk
// is gone. Then it cuts the disks, and then it kills the servers.
func (i *Injector) cutPower(ctx context.Context, nodes []system.Node) (string, error) {
	i.undo = append(i.undo, func(ctx context.Context) error {
		if err := i.kill(nodes); err != nil {
			return err
		}
		return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Remount(ctx) })
	})
	began, err := freeze(ctx, nodes)
	if err != nil {
		return "", err
	}
	stopped := time.Since(began)
	err = each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Cut() })
	if err != nil {
		return "", err
	}
	cut := time.Since(began)
	return fmt.Sprintf("cut the power of %s: all processes stood still %.1f ms after the first "+
		"stop signal, and the last disk was cut after %.1f ms",
		strings.Join(namesOf(nodes), ", "), milliseconds(stopped), milliseconds(cut)), i.kill(nodes)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (i *Injector) slowDisk(nodes []system.Node) (string, error) {
	i.undo = append(i.undo, func(context.Context) error {
		return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Unthrottle() })
	})
	sentence := fmt.Sprintf("limited the disk of %s to %d writes a second",
		strings.Join(namesOf(nodes), ", "), disk.SlowWritesPerSecond)
	return sentence, each(nodes, func(n system.Node) error {
		return i.bed.Disk(n.Name).Throttle()
	})
}

func (i *Injector) fillDisk(nodes []system.Node) error {
	i.undo = append(i.undo, func(context.Context) error {
		return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Empty() })
	})
	return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Fill() })
}
