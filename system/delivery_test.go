package system_test

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
)

// unaware is a sender that embeds its message and ignores transactions.
type unaware struct{ system.Message }

func (*unaware) Complete(error) {}

// aware keeps the transaction's number.
type aware struct {
	unaware
	transaction uint32
}

func (a *aware) Enlist(transaction uint32) { a.transaction = transaction }

func TestInTransactionReachesOnlySendersThatAsk(t *testing.T) {
	var u unaware
	u.Bind(&u)
	u.InTransaction(1) // must return
	var a aware
	a.Bind(&a)
	a.InTransaction(7)
	if a.transaction != 7 {
		t.Errorf("told %d", a.transaction)
	}
}
