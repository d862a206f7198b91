package compare

import "testing"

// Very many different values do not take more memory than a bound: neighbours share a group, and no
// value is lost.
func TestGroupsAreBounded(t *testing.T) {
	const intervals, each = 300, 20_000
	g := newGroups(intervals)
	for i := range intervals {
		for v := range int64(each) {
			g.add(i, v, 1)
		}
	}
	total := int64(0)
	for _, group := range g.all {
		for _, n := range group {
			total += n
		}
	}
	if total != intervals*each || g.entries > mostEntries || len(g.all)*g.each < intervals {
		t.Errorf("%d values in %d groups of %d intervals, %d entries", total, len(g.all), g.each,
			g.entries)
	}
}
