package bench

import (
	"cmp"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/result"
)

// auditStill is how long nothing may come before an audit counts as read to its
// end, unless the job says otherwise.
const auditStill = 10 * time.Second

// audit reads what the system still holds when the load is over and every fault
// is healed. The zero audit has not begun.
type audit struct {
	begun, told bool
	whole       bool // all that there is was read
}

// openAudit begins the audit where the workload asks for one, and reports whether
// its consumers are being opened, which is bounded by openReadersLimit.
func (m *meter) openAudit() (opening bool) {
	if !m.job.Workload.Audit || m.interrupted || !m.breaker.healed() {
		return false
	}
	if !m.audit.begun {
		m.audit.begun = true
		m.engine.Read(m.cluster, func() error { return nil }, openReadersLimit)
	}
	over, err := m.engine.Opened()
	if over && err != nil && !m.audit.told {
		m.audit.told = true
		m.note("the audit could not be opened: " + err.Error())
	}
	return !over
}

// endAudit notes whether the audit has read all that there is: nothing is missing,
// or nothing has come for long.
func (m *meter) endAudit(settled bool, stillNs int64) {
	over, err := m.engine.Opened()
	m.audit.whole = over && err == nil && (settled || stillNs >= int64(cmp.Or(m.job.Idle, auditStill)))
}

// setAuditAside calls unread what an audit did not come to.
func (m *meter) setAuditAside(accounts []result.SubscriptionLedger) {
	if m.job.Workload.Audit && !m.audit.whole {
		a := &accounts[len(accounts)-1]
		a.Unread, a.Lost, a.LostRanges = a.Lost, 0, nil
	}
}

// awaited is how many of the subscriptions the drain waits for, those that read
// later being the last.
func (m *meter) awaited() int {
	w := m.job.Workload
	if m.backlog != nil && m.backlog.replays() && m.backlog.gaveUp() {
		return w.Subscriptions
	}
	if over, err := m.engine.Opened(); w.Audit && over && err != nil {
		return w.Subscriptions
	}
	return w.AllSubscriptions()
}

// missing reports whether something has not arrived that the drain waits for. It
// is found anew only when something has happened.
func (m *meter) missing(f load.Figures) bool {
	if n := m.awaited(); f != m.judged || n != m.judgedOf {
		m.judged, m.judgedOf, m.lacks = f, n, m.engine.Missing(n)
	}
	return m.lacks
}
