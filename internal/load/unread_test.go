package load

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// keeping is a system that notes the subscriptions that were made, and which of them are open.
type keeping struct {
	noting
	mu   sync.Mutex
	made map[string]int
	open int
}

func (k *keeping) OpenConsumer(_ context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made[o.Topic.Name+" "+o.Subscription]++
	k.open++
	return kept{k}, nil
}

type kept struct{ by *keeping }

func (c kept) Close(context.Context) error {
	c.by.mu.Lock()
	defer c.by.mu.Unlock()
	c.by.open--
	return nil
}

// Of a load without subscriptions, the workers of a fleet together give each topic one that nobody
// reads. A topic that existed gets none.
func TestUnreadTopicsKeepTheirMessages(t *testing.T) {
	for _, c := range []struct {
		name     string
		existing []string
		want     map[string]int
	}{
		{"made", nil, map[string]int{"t-0 unread": 1, "t-1 unread": 1, "t-2 unread": 1}},
		{"existing", []string{"a", "b", "c"}, map[string]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := benchWorkload(100, time.Second, 1)
				w.Topics, w.Subscriptions, w.Existing = 3, 0, c.existing
				w.Delivery = workload.AtLeastOnce
				k := &keeping{made: map[string]int{}}
				const workers = 2
				for i := range workers {
					e := New(Plan{Workload: *w, Run: 1, Prefix: "t", Share: Share{Worker: i,
						Workers: workers}}, clock.Timers(), nil)
					if err := e.Open(t.Context(), k); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(c.want, k.made); diff != "" || k.open != 0 {
					t.Errorf("%d are open; made:\n%s", k.open, diff)
				}
			})
		})
	}
}
