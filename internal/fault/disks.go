package fault

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/disk"
	"github.com/plimsoll-bench/plimsoll/system"
)

// cutPower has servers stand still first, so that none of them answers anybody
// when its disk is gone already, then cuts the disks, and then ends the servers.
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
	stood := time.Since(began)
	if err := each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Cut() }); err != nil {
		return "", err
	}
	cut := time.Since(began)
	return fmt.Sprintf("cut the power of %s: all stood still %.1f ms after the first was told to, and the last disk was cut after %.1f ms",
		strings.Join(namesOf(nodes), ", "), milliseconds(stood), milliseconds(cut)), i.kill(nodes)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (i *Injector) slowDisk(nodes []system.Node) (string, error) {
	i.undo = append(i.undo, func(context.Context) error {
		return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Unthrottle() })
	})
	return fmt.Sprintf("slowed the disk of %s down to %d writes a second", strings.Join(namesOf(nodes), ", "), disk.SlowWritesPerSecond),
		each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Throttle() })
}

func (i *Injector) fillDisk(nodes []system.Node) error {
	i.undo = append(i.undo, func(context.Context) error {
		return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Empty() })
	})
	return each(nodes, func(n system.Node) error { return i.bed.Disk(n.Name).Fill() })
}
